"""A relay between a client and agent-sentinel that counts what the client sends: whether it squeezed is seen on the wire."""

import socket
import threading

import harness as h


class Tap:
    """Passes on every connection to a port of this host, in both directions, unchanged."""

    def __init__(self, port):
        self.target, self.sent = port, 0
        self.counting = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # the end of the test
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for source, sink, counted in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pass_on, args=(source, sink, counted), daemon=True).start()

    def pass_on(self, source, sink, counted):
        try:
            while piece := source.recv(1 << 16):
                if counted:
                    with self.counting:
                        self.sent += len(piece)
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # either side has gone
            source.close()
            sink.close()

    def stop(self):
        self.listener.close()


class Wire:
    """Bytes a span that were sent plain and squeezed, by protocol, to be compared when both are known."""

    def __init__(self):
        self.cost = {}

    def note(self, protocol, compression, tap, spans):
        """Notes a run; fails where squeezed spans take more than half the bytes of plain ones."""
        self.cost[protocol, compression] = tap.sent / spans
        plain, squeezed = self.cost.get((protocol, "none")), self.cost.get((protocol, "gzip"))
        if plain and squeezed:
            h.check(squeezed < plain / 2, f"{protocol}: {plain:.0f} bytes a span plain, {squeezed:.0f} with gzip")
        print(f"        {spans} spans, {tap.sent / spans:.0f} bytes each on the wire")
