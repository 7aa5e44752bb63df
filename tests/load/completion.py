"""What is asked of the server, and how is its answer read? Plain sockets: a fault needs them at any moment."""
import collections
import json
import random

Request = collections.namedtuple("Request", "path body")

WORDS = "river stone cloud green seven paper light house winter table garden music early north window silver".split()


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def make_pool(seed, n, longest=250):
    """`n` different requests. Greedy and seeded, three dialects, prefixes that several share, one to three choices."""
    rng = random.Random(seed)
    prefixes = [words(rng, length) for length in (40, 200, longest)]
    pool = []
    for i in range(n):
        text = rng.choice([*prefixes, ""]) + f" question {i}: " + words(rng, rng.randrange(1, 40))
        body = {"max_tokens": rng.randrange(1, 64), "temperature": rng.choice([0, 0, 0.8]), "seed": i}
        dialect = rng.choice(["completions", "completions", "chat", "messages"])
        if dialect == "completions":
            path, more = "/v1/completions", {"prompt": text, "ignore_eos": rng.random() < 0.7, "n": rng.choice([1, 1, 1, 3])}
        elif dialect == "chat":
            path, more = "/v1/chat/completions", {"messages": [{"role": "user", "content": text}]}
        else:
            path, more = "/v1/messages", {"messages": [{"role": "user", "content": text}], "temperature": min(body["temperature"], 1)}
        pool.append(Request(path, {**body, **more}))
    return pool


def head_and_body(path, body, extra=""):
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n{extra}\r\n"
    return head.encode() + data


class Answer:
    """Reads one answer from a socket, whole or streamed, as far as it is asked to."""

    def __init__(self, connection):
        self.file = connection.makefile("rb")
        self.status = None
        self.headers = {}
        self.texts = {}     # text by choice
        self.n_events = 0
        self.error = None
        self.is_done = False

    def read_head(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("the connection ended before the head")
        self.status = int(line.split()[1])
        while (line := self.file.readline().strip()):
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()

    def read(self, n_events=None):
        """Up to `n_events` more events of a stream, or all; a whole answer at once."""
        if self.status is None:
            self.read_head()
        if "event-stream" not in self.headers.get("content-type", ""):
            body = self.file.read(int(self.headers["content-length"]))
            self._take(json.loads(body))
            self.is_done = True
            return self
        left = n_events
        while left is None or left > 0:
            chunk = self._line()
            if chunk is None:
                return self
            if not chunk.startswith(b"data:"):
                continue
            if chunk[5:].strip() == b"[DONE]":
                self.is_done = True
                continue
            self._take(json.loads(chunk[5:]))
            self.n_events += 1
            left = None if left is None else left - 1
        return self

    def _line(self):
        """The next line of the events, out of chunked coding; None at the end."""
        pending = getattr(self, "_pending", b"")
        while b"\n" not in pending:
            size = self.file.readline()
            if not size:
                raise ConnectionError("the connection ended inside the answer")
            length = int(size, 16)
            data = self.file.read(length)
            self.file.readline()
            if length == 0:
                return None
            pending += data
        line, self._pending = pending.split(b"\n", 1)
        return line

    def _take(self, event):
        if "error" in event:
            self.error = event["error"]
            return
        if event.get("type") == "message_stop":
            self.is_done = True
        if event.get("type") == "content_block_delta":
            self.texts[0] = self.texts.get(0, "") + event["delta"].get("text", "")
        elif event.get("type") == "message":
            self.texts[0] = "".join(block["text"] for block in event["content"])
        for choice in event.get("choices", []):
            text = choice.get("text")
            if text is None:
                text = (choice.get("delta") or choice.get("message") or {}).get("content") or ""
            self.texts[choice["index"]] = self.texts.get(choice["index"], "") + text


def ask(server, request, timeout=300):
    """The texts of the answer, in the order of their choices. Errors of the server are raised."""
    with server.connect(timeout) as connection:
        connection.sendall(head_and_body(*request, "connection: close\r\n"))
        answer = Answer(connection).read()
    if answer.status != 200 or answer.error or not answer.is_done:
        raise RuntimeError(f"{request.path}: status {answer.status}, error {answer.error}, done {answer.is_done}")
    return [answer.texts[i] for i in sorted(answer.texts)]
