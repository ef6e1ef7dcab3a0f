"""A small MQTT 3.1.1 broker on loopback: QoS 0 and 1, wildcards at the end of filters."""

import socketserver
import struct
import threading
from contextlib import contextmanager

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT = (
    1, 2, 3, 4, 8, 9, 12, 13, 14,
)  # fmt: skip


def packet(kind, payload=b"", flags=0):
    length, size = b"", len(payload)
    while True:
        size, digit = size >> 7, size & 127
        length += bytes([digit | (128 if size else 0)])
        if not size:
            return bytes([kind << 4 | flags]) + length + payload


def text(value):
    return struct.pack(">H", len(value)) + value


class Connection(socketserver.StreamRequestHandler):
    """A client of the broker."""

    def setup(self):
        super().setup()
        self.filters = []

    def read_packet(self):
        head = self.rfile.read(1)
        if not head:
            return DISCONNECT, 0, b""
        size = shift = 0
        while True:
            digit = self.rfile.read(1)[0]
            size |= (digit & 127) << shift
            shift += 7
            if digit < 128:
                return head[0] >> 4, head[0] & 15, self.rfile.read(size)

    def send(self, *arguments):
        with self.server.lock:
            self.wfile.write(packet(*arguments))

    def accepts(self, topic):
        return any(
            topic == each or (each.endswith(b"#") and topic.startswith(each[:-1]))
            for each in self.filters
        )

    def handle(self):
        while True:
            kind, flags, payload = self.read_packet()
            if kind == CONNECT:
                self.server.connections.append(self)
                self.send(CONNACK, b"\0\0")
            elif kind == SUBSCRIBE:
                (size,) = struct.unpack_from(">H", payload, 2)
                self.filters.append(payload[4 : 4 + size])
                self.send(SUBACK, payload[:2] + b"\1")
                self.server.subscribed.set()
            elif kind == PUBLISH:
                (size,) = struct.unpack_from(">H", payload)
                topic, rest = payload[2 : 2 + size], payload[2 + size :]
                if flags & 2:  # QoS 1: a packet identifier
                    self.send(PUBACK, rest[:2])
                    rest = rest[2:]
                for connection in self.server.connections:
                    if connection.accepts(topic):
                        connection.send(PUBLISH, text(topic) + rest)
            elif kind == PINGREQ:
                self.send(PINGRESP)
            elif kind == DISCONNECT:
                return


class Broker(socketserver.ThreadingTCPServer):
    """The broker. `subscribed` is set after the first subscription."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Connection)
        self.lock = threading.Lock()
        self.connections = []
        self.subscribed = threading.Event()

    @property
    def port(self):
        return self.server_address[1]


@contextmanager
def running_broker():
    """A broker that runs in a thread."""
    with Broker() as broker:
        threading.Thread(target=broker.serve_forever, daemon=True).start()
        yield broker
        broker.shutdown()
