//===- Normalization.td - normalization and softmax --------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All operands of an op have the same float element type. `mean` and `variance`
// are over the axes that the op lists; `gamma` and `beta` are omitted if there
// is nothing to multiply or to add.
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_NORMALIZATION_TD
#define RELAX_OPS_NORMALIZATION_TD

include "Relax/RelaxBase.td"

class Relax_SoftmaxClass<string mnemonic, string what, string text> : Relax_DeducedOp<mnemonic, [Pure]> {
  let summary = what;
  let description = "\n    " # text # [{
    `axis` counts from the last if it is negative; `data` has rank 1 or more and
    float elements. The error of the sum is at most `256 * u` of it, whatever the
    length of `axis`, where `u` is `2 ** -24`, or `2 ** -53` for f64. A row that has
    NaN or plus infinity, or nothing but minus infinity, is NaN.

    Example:

    ```mlir
    %y = relax.}] # mnemonic # [{ %x axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let deduce = "deduceSoftmax(deduction, op.getData(), op.getAxis(), results)";
  let extraClassDeclaration = moreDeclarations;
  let arguments = (ins Relax_Tensor:$data, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$data (`axis` $axis^)? attr-dict `:` functional-type($data, $result)";
}
def Relax_SoftmaxOp : Relax_SoftmaxClass<"softmax", "exponentials, scaled to a sum of one", "`exp(data) / sum(exp(data))` along `axis`, without overflow; NaN where all elements are minus infinity.">;
def Relax_LogSoftmaxOp : Relax_SoftmaxClass<"log_softmax", "logarithm of softmax", "`data - log(sum(exp(data)))` along `axis`, without overflow.">;

defvar normalizationError = [{    The error is at most `1024 * u` times the greatest normalized element (`u` is
    `2 ** -24`, or `2 ** -53` for f64), whatever the number of elements and their
    mean, as long as their sum, and the distance of each from their mean, is finite:
    squares neither overflow nor vanish. Elements that are all equal become 0, or
    `beta`, also where `epsilon` vanishes next to them.
}];

def Relax_LayerNormOp : Relax_DeducedOp<"layer_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "layer normalization";
  let description = !strconcat([{
    `(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over
    `axes`. `gamma` and `beta` have the dimensions `axes` of `data`, in that order.

}], normalizationError, [{

    Example:

    ```mlir
    %y = relax.layer_norm %x gamma %gamma beta %beta axes [-1] {epsilon = 1.0e-6} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }]);
  let arguments = (ins Relax_Tensor:$data, Optional<Relax_Tensor>:$gamma, Optional<Relax_Tensor>:$beta,
                       DenseI64ArrayAttr:$axes, DefaultValuedAttr<F64Attr, "1e-5">:$epsilon);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`gamma` $gamma^)? (`beta` $beta^)? `axes` $axes attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_RMSNormOp : Relax_DeducedOp<"rms_norm", [Pure]> {
  let summary = "normalization by the root of the mean square";
  let description = [{
    `data / sqrt(mean(data * data) + epsilon) * weight`, with the mean over `axes`.
    `weight` has the dimensions `axes` of `data`, in that order.

    The error is at most `1024 * u` times the greatest normalized element (`u` is `2 **
    -24`, or `2 ** -53` for f64), whatever the number of elements. Squares do not
    overflow; squares of elements below `2 ** -63` (`2 ** -511` for f64) underflow, which
    is negligible next to a usual `epsilon` but loses them if `epsilon` is 0.

    Example:

    ```mlir
    %y = relax.rms_norm %x weight %weight axes [-1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    ```
  }];
  let arguments = (ins Relax_Tensor:$data, Optional<Relax_Tensor>:$weight,
                       DenseI64ArrayAttr:$axes, DefaultValuedAttr<F64Attr, "1e-5">:$epsilon);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`weight` $weight^)? `axes` $axes attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_GroupNormOp : Relax_DeducedOp<"group_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "normalization of groups of channels";
  let description = !strconcat([{
    Splits dimension `channel_axis` into `num_groups` groups of equal size; the number
    must divide it. Computes `(data - mean) / sqrt(variance + epsilon) * gamma + beta`,
    with mean and variance over the channels of a group and `axes`, which must not contain
    `channel_axis`. `gamma` and `beta` have rank 1 and one element for each channel.

}], normalizationError, [{

    Example:

    ```mlir
    %y = relax.group_norm %x gamma %gamma beta %beta num_groups 2 channel_axis 1 axes [2] : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>
    ```
  }]);
  let arguments = (ins Relax_Tensor:$data, Optional<Relax_Tensor>:$gamma, Optional<Relax_Tensor>:$beta,
                       I64Attr:$num_groups, I64Attr:$channel_axis, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<F64Attr, "1e-5">:$epsilon);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`gamma` $gamma^)? (`beta` $beta^)? `num_groups` $num_groups
    `channel_axis` $channel_axis `axes` $axes attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Relax_InstanceNormOp : Relax_DeducedOp<"instance_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "normalization of each channel of each instance";
  let description = !strconcat([{
    `(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and
    variance over `axes`, which must not contain `channel_axis`. `gamma` and
    `beta` have rank 1 and one element for each channel.

}], normalizationError, [{

    Example:

    ```mlir
    %y = relax.instance_norm %x gamma %gamma beta %beta channel_axis 1 axes [2] : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>
    ```
  }]);
  let arguments = (ins Relax_Tensor:$data, Optional<Relax_Tensor>:$gamma, Optional<Relax_Tensor>:$beta,
                       I64Attr:$channel_axis, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<F64Attr, "1e-5">:$epsilon);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $data (`gamma` $gamma^)? (`beta` $beta^)? `channel_axis` $channel_axis
    `axes` $axes attr-dict `:` functional-type(operands, $result)
  }];
}

def Relax_BatchNormOp : Relax_DeducedOp<"batch_norm", [Pure]> {
  let summary = "normalization of each channel over a batch";
  let description = !strconcat([{
    Returns three results: `(data - mean) / sqrt(variance + epsilon) * gamma + beta`, a
    new moving mean and a new moving variance. Without `training`, mean and variance are
    `moving_mean` and `moving_var`, which are returned unchanged. With it, they are
    computed from `data` over all dimensions except `axis`, and the new moving values are
    `moving * (1 - momentum) + current * momentum`, where `current` is the value computed
    from `data`. All operands except `data` have rank 1 and one element for each channel.

}], normalizationError, [{

    Example:

    ```mlir
    %y, %mean, %var = relax.batch_norm %x, %gamma, %beta, %moving_mean, %moving_var axis 1 : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>, tensor<4xf32>)
    ```
  }]);
  let arguments = (ins Relax_Tensor:$data, Relax_Tensor:$gamma, Relax_Tensor:$beta,
                       Relax_Tensor:$moving_mean, Relax_Tensor:$moving_var, I64Attr:$axis,
                       DefaultValuedAttr<F64Attr, "1e-5">:$epsilon,
                       DefaultValuedAttr<F64Attr, "0.1">:$momentum, UnitAttr:$training);
  let results = (outs Relax_Tensor:$result, Relax_Tensor:$new_mean, Relax_Tensor:$new_var);
  let assemblyFormat = [{
    $data `,` $gamma `,` $beta `,` $moving_mean `,` $moving_var `axis` $axis
    (`training` $training^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // RELAX_OPS_NORMALIZATION_TD
