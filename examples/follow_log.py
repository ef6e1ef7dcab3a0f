"""A service that follows a log over gRPC, and publishes an alert for each high value.

Needs `rdfm[grpc]` and a server, such as `rdfm serve logs/ --grpc 9090 --allow-publish`:

    python follow_log.py grpc://127.0.0.1:9090/observations grpc://127.0.0.1:9090/alerts 20

It stops at SIGTERM, or at the end of the log if the server was started with `--no-follow`.
"""

import signal
import sys
from types import FrameType

import rdfm

SOSA = "http://www.w3.org/ns/sosa/"
ALERT = rdfm.Iri("http://example.org/Alert")
TYPE = rdfm.Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def value_of(quad: rdfm.Quad) -> float | None:
    """Return the value that a quad states, or None."""
    if quad.predicate != rdfm.Iri(f"{SOSA}hasSimpleResult"):
        return None
    if not isinstance(quad.object, rdfm.Literal):
        return None
    try:
        return float(quad.object.value)
    except ValueError:
        return None


def stop(signal_number: int, frame: FrameType | None) -> None:
    """End the process, after the logs are closed."""
    sys.exit()


def main(source: str, target: str, limit: float) -> None:
    """Follow the source until a signal or its end."""
    signal.signal(signal.SIGTERM, stop)
    # Without an end, reading waits for the next message. After an interruption of the connection,
    # it continues after the last message.
    with (
        rdfm.open_log(source, storage_options={"retry": 100}) as log,
        rdfm.create_log(target) as alerts,
    ):
        for number, message in enumerate(log):
            values = [value for quad in message if (value := value_of(quad)) is not None]
            print(f"message {number}: {values}", flush=True)
            if any(value > limit for value in values):
                subject = message[0].subject
                alerts.write([*message, rdfm.Quad(subject, TYPE, ALERT)])
                alerts.flush()  # otherwise the alert waits for others


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
