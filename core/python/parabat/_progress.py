# SPDX-License-Identifier: BSD-3-Clause
"""Calls the user's progress functions, which may cancel."""

import contextlib
import ctypes

import numpy as np

from .errors import BatCancelledError, refuse_type

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


class Progress:
    """The C callback for `function(done)`, or for None; must live as long as the call.

    Maps the library's progress (0 to 1) to the sub-range `span` before calling `function`.
    """

    def __init__(self, function):
        if function is not None and not callable(function):
            refuse_type("progress", function, "functions of a number from 0 to 1, and None")
        self.span = (0.0, 1.0)
        self._function = function
        self._failure = None
        self.callback = None if function is None else _CALLBACK(self._tell)

    def _tell(self, _data, done):
        low, high = self.span
        try:
            answer = self._function(low + (high - low) * done)
            return int(isinstance(answer, (bool, np.bool_)) and not answer)
        except BaseException as failure:  # pylint: disable=broad-except
            self._failure = failure  # C code cannot propagate exceptions
            return 1

    @contextlib.contextmanager
    def watched(self):
        """Raises the function's exception in place of the error that it caused in the call."""
        try:
            yield
        except BatCancelledError:
            if self._failure is not None:
                raise self._failure from None
            raise
