"""Object stores on loopback, each a process of its own: `python servers.py s3` or `gs`.

Prints its port and serves until its standard input ends, which it does at the latest with the process that started it.
"""

from __future__ import annotations

import os
import sys


def serve_s3() -> int:
    """Serve moto's S3; return the port."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    return int(server.get_host_and_port()[1])


def serve_gs() -> int:
    """Serve an emulator of Google Cloud Storage from memory; return the port."""
    from gcp_storage_emulator.server import create_server

    server = create_server("127.0.0.1", 0, in_memory=True)
    server.start()
    return int(server._api._httpd.server_port)


if __name__ == "__main__":
    print({"s3": serve_s3, "gs": serve_gs}[sys.argv[1]](), flush=True)
    sys.stdin.read()
    os._exit(0)  # The servers' own threads would not end.
