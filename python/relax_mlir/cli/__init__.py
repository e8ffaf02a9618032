# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `relax-mlir`. What a subcommand needs is imported when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line; an error of ours is one message and the exit status 1."""
    from ..errors import MissingPackageError, RelaxError

    try:
        try:
            from .app import app
        except ImportError as error:
            raise MissingPackageError(
                f"the command line needs a package that cannot be imported ({error}); "
                "install it with: pip install typer rich"
            ) from None
        app()
    except RelaxError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        sys.exit(1)
