"""An HTTP/2 client that sends what a gRPC library would not send, such as incomplete messages."""

import contextlib
import socket
import struct
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE = 4
FRAME_BYTES = 16384


class Http2:
    """A connection.

    Attributes:
        counts: Number of received frames by kind and flags.
        windows: For each open call, the number of bytes that the server accepts.
    """

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._data = b""
        self.counts = {}
        self.windows = {}
        self._window = self._initial_window = 65535
        self._last_call = -1
        self._socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SETTINGS)

    def send(self, kind, flags=0, payload=b"", call=0):
        header = struct.pack(">I", len(payload))[1:] + bytes([kind, flags])
        self._socket.sendall(header + struct.pack(">I", call) + payload)

    def open_call(self, method, token=None):
        """Starts a gRPC call without a message, and returns its number."""
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": method,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
            **({} if token is None else {"authorization": f"Bearer {token}"}),
        }
        block = b"".join(
            b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in header)
            for header in headers.items()
        )
        self._last_call += 2
        self.windows[self._last_call] = self._initial_window
        self.send(HEADERS, END_HEADERS, block, self._last_call)
        return self._last_call

    def send_messages(self, calls, size, seconds):
        """Sends a message of a size to calls, but not its last byte, as far as the server accepts.

        Ends when everything was sent, or after this many seconds. Returns the number of bytes sent.
        """
        remaining = dict.fromkeys(calls, size + 4)
        total, end = 0, time.monotonic() + seconds
        while remaining and time.monotonic() < end:
            for call in list(remaining):
                if call not in self.windows:  # the server has ended the call
                    del remaining[call]
                    continue
                count = min(FRAME_BYTES, remaining[call], self.windows[call], self._window)
                if count > 5:
                    start = b"\0" + struct.pack(">I", size) if remaining[call] == size + 4 else b""
                    self.send(DATA, 0, start.ljust(count, b"\0"), call)
                    self.windows[call] -= count
                    self._window -= count
                    remaining[call] -= count
                    total += count
                if remaining[call] <= 5:
                    del remaining[call]
            if not self.listen(0.001):
                break
        return total

    def listen(self, seconds):
        """Answers frames for this many seconds. Returns whether the connection is still open."""
        end = time.monotonic() + seconds
        while (remaining := end - time.monotonic()) > 0:
            self._socket.settimeout(remaining)
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                break
            except ConnectionError:
                return False
            finally:
                self._socket.settimeout(20)
            if not data:
                return False
            self._data += data
            while len(self._data) >= 9:
                end_of_frame = 9 + int.from_bytes(self._data[:3], "big")
                if len(self._data) < end_of_frame:
                    break
                kind, flags = self._data[3:5]
                call = int.from_bytes(self._data[5:9], "big")
                payload = self._data[9:end_of_frame]
                self._data = self._data[end_of_frame:]
                self._receive(kind, flags, call, payload)
        return True

    def _receive(self, kind, flags, call, payload):
        self.counts[kind, flags] = self.counts.get((kind, flags), 0) + 1
        if kind in (SETTINGS, PING) and flags == 0:
            with contextlib.suppress(ConnectionError):
                self.send(kind, ACK, payload if kind == PING else b"")
        if kind == SETTINGS and flags == 0:
            for name, value in struct.iter_unpack(">HI", payload):
                if name == INITIAL_WINDOW_SIZE:
                    for open_call in self.windows:
                        self.windows[open_call] += value - self._initial_window
                    self._initial_window = value
        elif kind == WINDOW_UPDATE:
            (increment,) = struct.unpack(">I", payload)
            if call == 0:
                self._window += increment
            elif call in self.windows:
                self.windows[call] += increment
        elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
            self.windows.pop(call, None)

    def close(self):
        self._socket.close()


@contextlib.contextmanager
def connected(port):
    """A connection to a port of this machine."""
    connection = Http2(port)
    try:
        yield connection
    finally:
        connection.close()
