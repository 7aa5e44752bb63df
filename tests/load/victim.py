"""Which request does a fault meet, and in which state? One on a connection of its own, brought there, and read to its end afterwards."""
import random
import threading
import time

from completion import Answer, Request, ask, head_and_body, words

N_SLOTS = 3
STATES = ("half a body", "queued", "prompt", "stream", "whole", "kept connection")

VICTIM = Request("/v1/completions", {"prompt": "the victim " + words(random.Random(2), 30), "max_tokens": 100, "temperature": 0, "ignore_eos": True})
LONG = Request("/v1/completions", {**VICTIM.body, "prompt": words(random.Random(3), 500), "max_tokens": 8})
FILLER = Request("/v1/completions", {"prompt": "filler", "max_tokens": 60, "temperature": 0, "ignore_eos": True})


def request_in(state):
    return LONG if state == "prompt" else VICTIM


class Victim:
    """`server` runs N_SLOTS requests at once; those that fill its slots are `others`."""

    def __init__(self, server, state):
        self.server = server
        self.state = state
        path, body = request_in(state)
        self.request = head_and_body(path, {**body, "stream": state in ("queued", "prompt", "stream")})
        self.n_beside = server.metrics()["ferrox_num_requests_running"]
        self.others = []
        self.connection = server.connect()
        self.answer = Answer(self.connection)
        self._bring()

    def _bring(self):
        if self.state == "half a body":
            self.connection.sendall(self.request[:len(self.request) // 2])
            time.sleep(0.1)
            return
        if self.state == "queued":
            for _ in range(N_SLOTS - int(self.n_beside)):
                self.others.append(threading.Thread(target=ask_regardless, args=(self.server, FILLER)))
                self.others[-1].start()
            self._wait("ferrox_num_requests_running", N_SLOTS)
        self.connection.sendall(self.request)
        if self.state == "queued":
            self._wait("ferrox_num_requests_waiting", 1)
        elif self.state in ("prompt", "whole"):
            self._wait("ferrox_num_requests_running", self.n_beside + 1)
            time.sleep(0.2 if self.state == "whole" else 0)
        elif self.state == "stream":
            self.answer.read(3)
        else:
            self.answer.read()
            self.answer = Answer(self.connection)

    def _wait(self, metric, value):
        end = time.monotonic() + 30
        while self.server.metrics()[metric] != value:
            if time.monotonic() > end:
                raise RuntimeError(f"never came to '{self.state}'")
            time.sleep(0.005)

    def outcome(self, alone):
        """What the victim's client sees in the end; `alone`: the text of the same request without others."""
        try:
            if self.state == "half a body":
                self.connection.sendall(self.request[len(self.request) // 2:])
            elif self.state == "kept connection":
                self.connection.sendall(self.request)
            self.answer.read()
        except (OSError, ValueError, IndexError):
            return "closed"
        if self.answer.status != 200:
            return f"{self.answer.status} {(self.answer.error or {}).get('code')}"
        if self.answer.error:
            return f"event {self.answer.error.get('code')}"
        text = "".join(self.answer.texts.values())
        if text == alone:
            return "equal"
        return "ended early" if alone.startswith(text) else "WRONG TEXT"

    def leave(self):
        self.connection.close()
        self.answer.file.close()

    def wait_for_others(self):
        for thread in self.others:
            thread.join()


def ask_regardless(server, request):
    """For requests whose server may end under them."""
    try:
        ask(server, request)
    except (OSError, RuntimeError, ValueError, IndexError):
        pass
