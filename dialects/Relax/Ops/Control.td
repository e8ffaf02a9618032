//===- Control.td - dataflow blocks and control flow -------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_CONTROL_TD
#define RELAX_OPS_CONTROL_TD

include "Relax/RelaxBase.td"

/// A condition: a Boolean scalar or a tensor of rank zero.
def Relax_Condition : AnyTypeOf<[I1, 0DTensorOf<[I1]>]>;

def Relax_DataflowOp : Relax_Op<"dataflow", [
    RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "a straight-line region without side effects";
  let description = [{
    A region without control flow and side effects, in which dead code may be
    removed and code may be rewritten freely. Values leave it through
    `relax.output`; symbols that a `relax.match_cast` defines in it are visible
    after it.

    Example:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %0 = relax.dataflow -> tensor<?xf32, #relax.shape<[n]>> {
        %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
        relax.output %1 : tensor<?xf32, #relax.shape<[n]>>
      }
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Relax_AnyValue>:$results);
  let assemblyFormat = "(`->` type($results)^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

class Relax_YieldLikeOp<string mnemonic, list<Trait> traits>
    : Relax_Op<mnemonic, [Pure, Terminator] # traits> {
  let arguments = (ins Variadic<Relax_AnyValue>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

def Relax_OutputOp : Relax_YieldLikeOp<"output", [HasParent<"DataflowOp">]> {
  let summary = "ends a dataflow block with its results";
  let description = [{
    Each operand must have the block's result type, or a finer one.

    Example:

    ```mlir
    relax.output %x : tensor<4xf32>
    ```
  }];
}

def Relax_YieldOp : Relax_YieldLikeOp<"yield", [ParentOneOf<["IfOp", "WhileOp"]>]> {
  let summary = "ends a branch or a loop body with its results";
  let description = [{
    Each operand must have the result type of the enclosing `relax.if` or
    `relax.while`, or a finer one.

    Example:

    ```mlir
    relax.yield %x : tensor<4xf32>
    ```
  }];
}

def Relax_IfOp : Relax_Op<"if", [
    RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "executes one of two branches";
  let description = [{
    Runs one branch. Yielded values must have the result types, or finer ones.
    Symbols defined in a branch are not visible outside.

    Example:

    ```mlir
    relax.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.if %c : i1 -> tensor<4xf32> {
        %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        relax.yield %1 : tensor<4xf32>
      } else {
        relax.yield %x : tensor<4xf32>
      }
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Relax_Condition:$condition);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let results = (outs Variadic<Relax_AnyValue>:$results);
  let assemblyFormat = [{
    $condition `:` type($condition) (`->` type($results)^)? attr-dict-with-keyword
    $then_region `else` $else_region
  }];
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
}

def Relax_WhileOp : Relax_Op<"while", [
    RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop over carried values";
  let description = [{
    Carries values through iterations: the first region decides whether to continue, the
    second computes the next values. The carried values have the result types in every
    iteration, so a dimension that changes must be `?` in these types.

    Example:

    ```mlir
    relax.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>):
        relax.condition %c : i1
      } do {
      ^bb0(%a: tensor<4xf32>):
        %1 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
        relax.yield %1 : tensor<4xf32>
      }
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Relax_AnyValue>:$inits);
  let regions = (region SizedRegion<1>:$condition_region, SizedRegion<1>:$body);
  let results = (outs Variadic<Relax_AnyValue>:$results);
  let assemblyFormat = [{
    $inits `:` functional-type($inits, $results) attr-dict-with-keyword
    $condition_region `do` $body
  }];
  let hasRegionVerifier = 1;
}

def Relax_ConditionOp : Relax_Op<"condition", [
    Pure, Terminator, HasParent<"WhileOp">]> {
  let summary = "decides whether a loop continues";
  let description = [{
    If the condition is true, the loop body runs; otherwise the carried values are the
    results of the `relax.while`.

    Example:

    ```mlir
    relax.condition %c : i1
    ```
  }];
  let arguments = (ins Relax_Condition:$condition);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

def Relax_AssertOp : Relax_Op<"assert", [AttrSizedOperandSegments,
    MemoryEffects<[MemWrite]>]> {
  let summary = "fails with a message unless the condition holds";
  let description = [{
    If the condition is false, the program fails with the message and the location
    of this op. `%0` and `%1` in the message stand for `first` and `second`.

    Example:

    ```mlir
    relax.assert %c, "lengths must agree" : i1
    relax.assert %d, "%0 is more than %1" first %n second %m : i1
    ```
  }];
  let arguments = (ins Relax_Condition:$condition, StrAttr:$message,
                       Optional<Index>:$first, Optional<Index>:$second);
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "const ::llvm::Twine &":$message), [{
    build($_builder, $_state, condition, message.str(), /*first=*/{}, /*second=*/{});
  }]>];
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $condition `,` $message (`first` $first^)? (`second` $second^)? attr-dict `:` type($condition)
  }];
}

#endif // RELAX_OPS_CONTROL_TD
