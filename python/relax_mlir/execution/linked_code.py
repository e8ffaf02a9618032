# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Object files linked into this process (lib/Runtime/Core/Linker.cpp)."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping

from .shared_library import library

_MESSAGE = 1024


class LinkedCode:
    """An object file as code of this process, as long as this object lives; none of its functions may run then.

    Raises:
      RuntimeError: the file is damaged, or needs a symbol that is missing.
    """

    def __init__(self, object: bytes, symbols: Mapping[str, int]) -> None:
        """Links an object file.

        Args:
          symbols: addresses of symbols that neither the runtime nor libraries of the process have, by name.
        """
        link = library().relax_rt_link
        link.restype = ctypes.c_void_p
        message = ctypes.create_string_buffer(_MESSAGE)
        names = b"".join(name.encode() + b"\0" for name in symbols)
        addresses = (ctypes.c_void_p * len(symbols))(*symbols.values())
        size, count = ctypes.c_int64(len(object)), ctypes.c_int64(len(symbols))
        self._handle = link(object, size, names, addresses, count, message, ctypes.c_int64(_MESSAGE))
        if not self._handle:
            raise RuntimeError(message.value.decode(errors="replace"))
        # At the end of the process, other threads may still run it.
        weakref.finalize(self, library().relax_rt_unlink, ctypes.c_void_p(self._handle)).atexit = False

    def lookup(self, name: str) -> int:
        """The address of a symbol.

        Raises:
          RuntimeError: the object file does not define it.
        """
        find = library().relax_rt_find_linked
        find.restype = ctypes.c_void_p
        address = find(ctypes.c_void_p(self._handle), name.encode())
        if not address:
            raise RuntimeError(f"it has no symbol '{name}'")
        return address
