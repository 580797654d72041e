"""Ctrl-C as a request to come to an end, for work that has something to show for it."""

from __future__ import annotations

import signal
import threading


class Interrupt:
    """While entered, the first Ctrl-C only sets `requested`; the second one is raised as usual.

    An exception that strikes in the middle of compiled code can leave things half done. Where
    signals are not ours to catch (in other threads, or under another handler), nothing changes.
    """

    def __init__(self) -> None:
        self.requested = False
        self._is_ours = False

    def __enter__(self) -> Interrupt:
        self._is_ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._is_ours:
            signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _request(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
