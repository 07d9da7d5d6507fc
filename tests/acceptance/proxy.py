"""A proxy that lets requests through and loses chosen answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """`lose` holds methods; the next answer to each is dropped, and the connection with it."""

    port: int
    lose: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return where the proxy listens."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def losing_answers(target_port: int) -> Iterator[Proxy]:
    """Run a proxy before the server on `target_port` until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(listener.getsockname()[1])
        thread = threading.Thread(target=_accept, args=(listener, proxy, target_port))
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _accept(listener: socket.socket, proxy: Proxy, target_port: int) -> None:
    workers: list[threading.Thread] = []
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            break
        workers.append(threading.Thread(target=_serve, args=(client, proxy, target_port)))
        workers[-1].start()
    for worker in workers:
        worker.join()


def _serve(client: socket.socket, proxy: Proxy, target_port: int) -> None:
    """Carry one request and its answer; each connection serves one."""
    with client, socket.create_connection(("127.0.0.1", target_port)) as server:
        client.settimeout(60)
        server.settimeout(60)
        request = _one_message(client)
        if not request:
            return
        head, _, body = request.partition(b"\r\n\r\n")
        server.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
        answer = b"".join(iter(lambda: server.recv(1 << 16), b""))
        method = head.split(b" ", 1)[0].decode()
        if method in proxy.lose:
            proxy.lose.remove(method)
            proxy.lost.append(method)
            return
        client.sendall(answer)


def _one_message(client: socket.socket) -> bytes:
    """Read a request that has a Content-Length or no body at all."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(1 << 16)
        if not chunk:
            return b""
        data += chunk
    head = data.partition(b"\r\n\r\n")[0].lower()
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            length = int(value)
    whole = len(head) + 4 + length
    while len(data) < whole:
        data += client.recv(1 << 16)
    return data
