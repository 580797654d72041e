"""Ctrl-C as a request to stop, for searches that then return their best result so far."""

from __future__ import annotations

import signal
import threading


class Interrupt:
    """Within this context, the first Ctrl-C sets `requested`; the second one is raised as usual.

    An exception raised in the middle of compiled code could leave data in an inconsistent state.
    Outside the main thread, or if another handler is installed, nothing changes.
    """

    requested: bool

    def __init__(self) -> None:
        self.requested = False
        self._is_installed = False

    def __enter__(self) -> Interrupt:
        self._is_installed = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._is_installed:
            signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _request(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
