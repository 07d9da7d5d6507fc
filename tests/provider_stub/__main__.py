"""Play a scenario: print the handshake, serve, obey Shutdown. Usage: SCENARIO.json"""

import json
import os
import sys
import tempfile
import threading
import time
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc

from pyengine.provider.proto import plugin_pb2, tfplugin5_pb2, tfplugin6_pb2
from tests.provider_stub.calls import Calls
from tests.provider_stub.certificates import self_signed
from tests.provider_stub.scenario import Scenario


def main() -> None:
    data: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = data.get("handshake", {})
    if "stderr" in lines:
        print(lines["stderr"], file=sys.stderr, flush=True)
    if "before" in lines:
        print(lines["before"], flush=True)
    if "line" in lines and lines["line"] is None:
        time.sleep(lines.get("sleep", 0))
        sys.exit(lines.get("exit", 0))
    protocol = data.get("protocol", 5)
    messages = tfplugin6_pb2 if protocol == 6 else tfplugin5_pb2
    calls = Calls(Scenario(data, messages), protocol)
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=16),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    server.add_generic_rpc_handlers([calls, _Controller(data)])
    line = lines.get("line", f"1|{protocol}|unix|SOCK|grpc|{'CERT' if data.get('tls') else ''}")
    socket = f"{os.environ.get('PLUGIN_UNIX_SOCKET_DIR', tempfile.gettempdir())}/stub{os.getpid()}"
    address = "127.0.0.1:0" if "tcp" in line else f"unix:{socket}"
    if "CERT" in line:
        key, certificate, text = self_signed()
        credentials = grpc.ssl_server_credentials([(key, certificate)])
        port = server.add_secure_port(address, credentials)
        line = line.replace("CERT", text)
    else:
        port = server.add_insecure_port(address)
    server.start()
    print(line.replace("SOCK", socket).replace("PORT", str(port)), flush=True)
    if "then" in lines:
        print(lines["then"], flush=True)
    server.wait_for_termination()


class _Controller(grpc.GenericRpcHandler):
    def __init__(self, data: dict[str, Any]) -> None:
        self._hangs = "Shutdown" in data.get("hang_on", ())

    def service(self, details: Any) -> Any:
        if details.method != "/plugin.GRPCController/Shutdown":
            return None
        return grpc.unary_unary_rpc_method_handler(
            self._shutdown,
            request_deserializer=plugin_pb2.Empty.FromString,
            response_serializer=plugin_pb2.Empty.SerializeToString,
        )

    def _shutdown(self, request: Any, context: Any) -> Any:  # noqa: ARG002 - gRPC's signature
        if self._hangs:
            threading.Event().wait()
        os._exit(0)


main()
