"""Spark sessions in separate processes, with injected failures, and clusters on this machine."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from support import ROOT

HOOKS = ROOT / "tests/spark/session/hooks"


@contextlib.contextmanager
def standalone_cluster(hosts, folder, environment):
    """Starts a master and a worker with one core at each address, and returns the URL of the master."""
    import pyspark

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    program = str(Path(pyspark.__file__).parent / "bin/spark-class")
    daemon_settings = {
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    processes = []

    def start(kind, host, *arguments):
        class_name = f"org.apache.spark.deploy.{kind.lower()}.{kind}"
        command = [program, class_name, "--host", host, "--webui-port", "0", *arguments]
        processes.append(
            subprocess.Popen(
                command,
                env={**environment, **daemon_settings, "SPARK_LOCAL_IP": host},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    try:
        start("Master", "127.0.0.1", "--port", str(port))
        for host in hosts:
            start("Worker", host, "--cores", "1", "--memory", "600m", address)
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Session:
    """Runs Spark sessions in separate processes, and injects failures."""

    def __init__(self, environment, folder):
        self.folder = folder
        self.folder.mkdir()
        path = os.pathsep.join([str(HOOKS), str(ROOT / "tests"), environment["PYTHONPATH"]])
        self.environment = {
            **os.environ,
            **environment,
            "PYTHONPATH": path,
            "RDFM_TEST_FAILURES": str(folder),
            "PYTHONWARNINGS": "ignore",
        }

    def run(self, *steps, master="local[2]", **settings):
        """Runs the steps one after another. Returns the result line of each."""
        arguments = [json.dumps(argument) for argument in (settings, *steps)]
        command = [sys.executable, str(HOOKS / "session.py"), master, *arguments]
        child = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, errors = child.communicate(timeout=600)
        finally:
            if master.startswith("local"):
                self.end()
        assert child.returncode in (0, -signal.SIGKILL), errors[-3000:]
        return [line for line in out.splitlines() if line.startswith(("done", "failed"))]

    @contextlib.contextmanager
    def cluster(self):
        """Starts a cluster of two workers at different addresses, which speculation requires."""
        try:
            with standalone_cluster(
                ("127.0.0.1", "127.0.0.2"), self.folder, self.environment
            ) as address:
                yield address
        finally:
            self.end()

    def happened(self):
        """Returns the number of failures that have happened."""
        return len(list(self.folder.glob("happened*")))

    def end(self):
        """Waits until the children of killed processes have ended, and kills those that remain."""
        marker = f"RDFM_TEST_FAILURES={self.folder}\0".encode()
        for second in range(10):
            remaining = []
            for path in Path("/proc").glob("[0-9]*/environ"):
                try:
                    if marker in path.read_bytes():
                        remaining.append(int(path.parent.name))
                except OSError:
                    continue
            if not remaining:
                return
            if second > 2:
                for pid in remaining:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.5)
