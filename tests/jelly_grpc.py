"""Jelly gRPC without rdfm: a client and a server that are based on proto/grpc.proto.

Frames are encoded and decoded by `jelly_proto`, which shares no code with rdfm. `serve` starts
`rdfm serve` in a separate process.
"""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from jelly_proto import Reader, Writer, compiled

PROTO = compiled("grpc.proto")
SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
TOKEN = "s3cret"
PUBLISHER = (("authorization", f"Bearer {TOKEN}"),)
ONCE = (("rdfm-follow", "false"),)
FROM_END = (("rdfm-start", "end"),)
LIMITS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 64 << 20),
    ("grpc.use_local_subchannel_pool", 1),
]


def options(**fields):
    """Returns requested stream options that allow everything, with the given fields replaced."""
    allowed = {
        "physical_type": 0,
        "generalized_statements": True,
        "rdf_star": True,
        "max_name_table_size": 4096,
        "max_prefix_table_size": 1024,
        "max_datatype_table_size": 256,
        "version": 0,
    }
    return PROTO.RdfStreamOptions(**{**allowed, **fields})


class Client:
    """A client of one server."""

    def __init__(self, port, credentials=None, limits=LIMITS, **settings):
        target = f"localhost:{port}"
        self.channel = (
            grpc.insecure_channel(target, options=limits, **settings)
            if credentials is None
            else grpc.secure_channel(target, credentials, options=limits, **settings)
        )
        self._subscribe = self.channel.unary_stream(
            f"/{SERVICE}/SubscribeRdf",
            PROTO.RdfStreamSubscribe.SerializeToString,
            PROTO.RdfStreamFrame.FromString,
        )
        self._publish = self.channel.stream_unary(
            f"/{SERVICE}/PublishRdf",
            lambda frame: frame.SerializeToString(),
            PROTO.RdfStreamReceived.FromString,
        )

    def subscribe(self, topic="", requested=None, metadata=(), timeout=30):
        """Returns the call, which yields frames."""
        request = PROTO.RdfStreamSubscribe(topic=topic)
        if requested is not None:
            request.requested_options.CopyFrom(requested)
        return self._subscribe(request, metadata=metadata, timeout=timeout)

    def messages(self, topic="", requested=None, metadata=ONCE):
        """Returns all messages up to the end of the topic, and the stream options."""
        reader = Reader()
        found = [reader.frame(frame) for frame in self.subscribe(topic, requested, metadata)]
        return found, reader.stream_options

    def publish(self, frames, metadata=PUBLISHER, timeout=30, **settings):
        return self._publish(iter(frames), metadata=metadata, timeout=timeout, **settings)

    def publish_future(self, frames, metadata=PUBLISHER, timeout=30):
        return self._publish.future(frames, metadata=metadata, timeout=timeout)

    def close(self):
        self.channel.close()


def frames_of(messages, topic="", physical=2, logical=None, version=1):
    """Encodes messages as frames, with the topic as the stream name."""
    writer = Writer(physical, version, logical)
    for message in messages:
        writer.message(message)
    if not writer.frames:
        writer.options()
        writer.frames.append(PROTO.RdfStreamFrame())
    writer.frames[0].rows[0].options.stream_name = topic
    return writer.frames


def message(number, graph=None):
    """Returns a message with one quad, which contains the number."""
    subject = ("iri", f"http://example.org/m/{number}")
    object_ = ("literal", str(number), None, None, "http://www.w3.org/2001/XMLSchema#integer")
    return [(subject, ("iri", "http://example.org/number"), object_, graph)]


def numbers(messages):
    """Returns the numbers of messages created by `message`."""
    return [int(quads[0][2][1]) for quads in messages]


class ServeProcess:
    """A running `rdfm serve` process.

    Attributes:
        process: The process.
        port: Its port.
        lines: The lines of its event log so far.
    """

    def __init__(self, process):
        self.process = process
        self.lines = []
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        self.wait_for('url=|"url"|error:')
        found = re.search(r"grpcs?://[^ ]+:(\d+)", "".join(self.lines))
        assert found, self.lines
        self.port = int(found[1])

    def _read(self):
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def wait_for(self, pattern, count=1):
        """Returns the lines that match a pattern, as soon as there are at least `count`."""

        def matches():
            return [line for line in self.lines if re.search(pattern, line)]

        with self._changed:
            assert self._changed.wait_for(lambda: len(matches()) >= count, 20), self.lines
            return matches()

    def stop(self, kind=signal.SIGTERM):
        """Stops the process and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(kind)
        code = self.process.wait(20)
        self._thread.join(20)
        return code


@contextlib.contextmanager
def serve(*arguments, publish=True, env=None, port=0):
    """Runs `rdfm serve` on the given port, or on a free one. Yields the process."""
    publish_options = ["--allow-publish"] if publish else []
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "rdfm",
            "serve",
            *map(str, arguments),
            *publish_options,
            "--grpc",
            str(port),
        ],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RDFM_PUBLISH_TOKEN": TOKEN, **(env or {})},
    )
    served = None
    try:
        served = ServeProcess(process)
        yield served
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if served is not None:
            served.stop()
        process.stderr.close()


class Server(grpc.GenericRpcHandler):
    """A server that sends fixed frames and records published ones.

    Attributes:
        frames: The frames of every topic.
        break_after: Numbers of frames after which the next subscriptions break.
        topics: The topic of each subscription.
        metadata: The metadata of each subscription.
        published: The frames of each publication.
        accept: Number of frames after which publications are ended, or None.
        refusal: Status code and details with which calls are rejected, or None.
        proceed: Event that a publication waits for before it records the next frame.
    """

    def __init__(self, frames=(), break_after=()):
        self.frames = list(frames)
        self.break_after = list(break_after)
        self.topics = []
        self.metadata = []
        self.published = []
        self.refusal = None
        self.accept = None
        self.proceed = threading.Event()
        self.proceed.set()
        self._server = grpc.server(ThreadPoolExecutor(8), options=LIMITS)
        self._server.add_generic_rpc_handlers((self,))
        self.port = self._server.add_insecure_port("localhost:0")
        self._server.start()

    def service(self, details):
        if details.method.endswith("/SubscribeRdf"):
            return grpc.unary_stream_rpc_method_handler(
                self._subscribe,
                PROTO.RdfStreamSubscribe.FromString,
                lambda frame: frame.SerializeToString(),
            )
        return grpc.stream_unary_rpc_method_handler(
            self._publish,
            PROTO.RdfStreamFrame.FromString,
            PROTO.RdfStreamReceived.SerializeToString,
        )

    def _subscribe(self, request, context):
        self.topics.append(request.topic)
        self.metadata.append(dict(context.invocation_metadata()))
        if self.refusal is not None:
            context.abort(*self.refusal)
        end = self.break_after.pop(0) if self.break_after else None
        yield from self.frames[:end]
        if end is not None:
            context.abort(grpc.StatusCode.UNAVAILABLE, "interrupted")

    def _publish(self, frames, context):
        if self.refusal is not None:
            context.abort(*self.refusal)
        received = []
        self.published.append(received)
        for frame in itertools.islice(frames, self.accept):
            self.proceed.wait(20)
            received.append(frame)
        return PROTO.RdfStreamReceived()

    def close(self):
        self.proceed.set()
        self._server.stop(0).wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
