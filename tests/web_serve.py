"""Runs the HTTP server of `rdfm.serve` in this process, and sends requests to it."""

import contextlib
import http.client
import queue
import re
import socket
import subprocess
import sys
import threading
import urllib.parse

import rdfm


class Reply:
    """A response.

    Attributes:
        status: The status.
        headers: The headers, with names in lower case.
        body: The body.
    """

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()


class WebServer:
    """A running server.

    Attributes:
        port: Its port.
        url: Its URL, without a trailing slash.
    """

    def __init__(self, port):
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def request(self, target, method="GET", body=None, **headers):
        """Sends a request over a new connection; each `_` in the name of a header stands for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, target, body, names)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def get(self, target, **headers):
        return self.request(target, **headers)

    def connect(self):
        """Opens a connection."""
        return socket.create_connection(("127.0.0.1", self.port), 30)


@contextlib.contextmanager
def serve_web(folder=None, **options):
    """Serves a folder over HTTP. Yields the server."""
    ports, stop, errors = queue.Queue(), threading.Event(), []

    def run():
        try:
            rdfm.serve(
                folder, **{"http": 0, "quiet": True, **options}, started=ports.put, stop=stop
            )
        except BaseException as error:
            errors.append(error)
            ports.put(None)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        port = ports.get(timeout=60)
        if errors:
            raise errors[0]
        yield WebServer(port)
    finally:
        stop.set()
        thread.join(60)


class Process:
    """A running `rdfm serve`.

    Attributes:
        process: The process.
        start: The first line of its event log.
        web: The server, inside the `with` block.
    """

    def __init__(self, *arguments, command=None):
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "rdfm", "serve", *map(str, arguments)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.start = self.process.stderr.readline()

    def __enter__(self):
        found = re.search(r"https?://[^ ,]+:(\d+)", self.start)
        assert found, self.start
        self.web = WebServer(int(found[1]))
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def quote(topic):
    return "/" + urllib.parse.quote(topic)
