# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(model, backend="relax")`.

A graph of which no gradients are asked for is traced before autograd, so that what means more whole (linear maps,
attention, norms, convolutions) stays whole. Other graphs, and those that need what only PyTorch's own wrappers do with
inputs that share memory, go through `aot_autograd`: it makes a forward and a backward graph, and both are compiled.

    Dynamo's graph ── no gradients ── aot_export_module(pre_dispatch) ── compile_graph
           └───────── gradients ───── aot_autograd ─┬─ forward ───────── compile_graph
                                                    └─ backward ──────── compile_graph
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import aot_export_module
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ...errors import RelaxError
from .compile_options import CompileOptions
from .compiled_graph import compile_graph
from .decompositions import autograd_table, decomposition_table, updating_norms
from .small_sizes import quiet
from .views import view_root


def relax(
    graph_module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend of `torch.compile`, which is registered as "relax".

    Args:
      options: `target` (a `Target` or its name; the device of the tensors unless given), `use_bounds` and `cached`, as
        for `relax_mlir.compile_code`.

    Raises:
      UnsupportedOpError: ops have no converter; the message lists all of them with their lines. `torch.compile` hands
        it on as a `BackendCompilerFailed` with this error as its `inner_exception`.
      FrontendError: an option is unknown, or something else of the graph is not understood.
    """
    chosen = CompileOptions.read(options, mode)
    if not _needs_gradients(graph_module, example_inputs):
        traced = _trace(graph_module)
        if traced is not None:
            module, bound, updates = traced
            return compile_graph(module, chosen, is_boxed=False, bound=bound, updates=updates)
    return _through_autograd(graph_module, example_inputs, chosen)


def _needs_gradients(graph_module: torch.fx.GraphModule, examples: Sequence[Any]) -> bool:
    """Whether gradients of results may be asked for."""
    tensors = [*examples, *graph_module.parameters(), *graph_module.buffers()]
    if not any(isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors):
        return False
    switched_on = any(
        node.target is torch._C._set_grad_enabled and node.args[0] is True for node in graph_module.graph.nodes
    )
    return torch.is_grad_enabled() or switched_on


def _through_autograd(
    graph_module: torch.fx.GraphModule, examples: Sequence[Any], options: CompileOptions
) -> Callable[..., Any]:
    compile_one = functools.partial(_compile_traced, options)
    backend = aot_autograd(
        fw_compiler=compile_one,
        bw_compiler=compile_one,
        inference_compiler=compile_one,
        decompositions=autograd_table(),
        partition_fn=min_cut_rematerialization_partition,
    )
    # Fused attention of a GPU keeps what only its own kernels understand; products and a softmax are ops of ours.
    is_on_cpu = all(example.device.type == "cpu" for example in examples if isinstance(example, torch.Tensor))
    with contextlib.nullcontext() if is_on_cpu else sdpa_kernel(SDPBackend.MATH):
        return backend(graph_module, examples)


def _compile_traced(options: CompileOptions, graph_module: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
    return compile_graph(graph_module, options, is_boxed=True)


# --- without gradients

_Traced = tuple[Any, dict[Any, torch.Tensor], list[tuple[Any, Any]]]


def _trace(graph_module: torch.fx.GraphModule) -> _Traced | None:
    """The graph in functional form with its ops whole, the tensors that it brings along, and what it changes.

    None where that is not possible: PyTorch's wrappers of `aot_autograd` are needed for inputs that share memory with
    each other or with results while they are changed, and for tensors that are made of others.
    """
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    examples = [node.meta.get("example_value") for node in placeholders]
    if any(map(_is_special, examples)) or _depends_on_place(graph_module):
        return None
    exported = _export(graph_module, examples, decomposition_table())
    if exported is not None and (updating := updating_norms(exported[0].graph)):
        exported = _export(graph_module, examples, decomposition_table(updating))
    if exported is None or _drops_attention(exported[0]):
        return None
    module, signature = exported
    for node in module.graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled):
        module.graph.erase_node(node)
    nodes = {node.name: node for node in module.graph.nodes}
    tensors = {**dict(graph_module.named_parameters(remove_duplicate=False)), **dict(graph_module.named_buffers())}
    bound = {nodes[name]: tensors[target] for name, target in _lifted(signature).items()}
    places = {target: nodes[name] for name, target in _lifted(signature).items()}
    changed = {**signature.buffers_to_mutate, **getattr(signature, "parameters_to_mutate", {})}
    updates = [(nodes[value], places[target]) for value, target in changed.items()]
    updates += [(nodes[value], nodes[target]) for value, target in signature.user_inputs_to_mutate.items()]
    order = {node: index for index, node in enumerate(_outputs(module))}
    updates.sort(key=lambda entry: order[entry[0]])
    if _share_memory(examples, bool(updates)) or _shows_changed(module, updates):
        return None
    (output,) = module.graph.find_nodes(op="output")
    output.args = (tuple(_outputs(module)[len(updates) :]),)
    return module, bound, [(target, value) for value, target in updates]


def _export(graph_module: torch.fx.GraphModule, examples: Sequence[Any], table: dict[Any, Any]) -> Any:
    """The graph before autograd with its signature; None where PyTorch does not take it."""
    try:
        with torch.no_grad(), quiet():
            return aot_export_module(graph_module, examples, trace_joint=False, pre_dispatch=True, decompositions=table)
    except RelaxError:
        raise
    except Exception:  # whatever this way of tracing does not take: the other one says what is wrong, if anything is
        return None


def _lifted(signature: Any) -> dict[str, str]:
    return {**signature.inputs_to_parameters, **signature.inputs_to_buffers}


def _outputs(module: Any) -> list[Any]:
    (output,) = module.graph.find_nodes(op="output")
    return list(output.args[0])


def _is_special(example: Any) -> bool:
    return isinstance(example, torch.Tensor) and is_traceable_wrapper_subclass(example)


def _drops_attention(module: torch.fx.GraphModule) -> bool:
    """Whether attention drops at random, of which PyTorch's own implementation knows the parts alone."""
    attention = torch.ops.aten.scaled_dot_product_attention.default
    nodes = itertools.chain.from_iterable(
        part.graph.find_nodes(op="call_function", target=attention)
        for part in module.modules()
        if isinstance(part, torch.fx.GraphModule)
    )
    return any(node.kwargs.get("dropout_p", node.args[4] if len(node.args) > 4 else 0.0) for node in nodes)


def _depends_on_place(graph_module: torch.fx.GraphModule) -> bool:
    """Whether what an op does depends on where it is, which a trace before autograd has not seen yet: under autocast,
    or in transformations such as `vmap`."""
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        return True
    for module in graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            name = f"{getattr(node.target, '__module__', '')}.{getattr(node.target, '__name__', '')}"
            if "autocast" in name or "functorch" in name:
                return True
    return False


def _share_memory(examples: Sequence[Any], is_changed: bool) -> bool:
    """Whether inputs share memory while some of them are changed."""
    if not is_changed:
        return False
    storages = [tensor.untyped_storage()._cdata for tensor in examples if isinstance(tensor, torch.Tensor)]
    return len(set(storages)) < len(storages)


def _shows_changed(module: Any, updates: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a result shows an input that is changed."""
    values = {value for value, _ in updates} | {target for _, target in updates}
    results = [node for node in _outputs(module)[len(updates) :] if isinstance(node, torch.fx.Node)]
    return any(view_root(node, values.__contains__)[0] in values for node in results)
