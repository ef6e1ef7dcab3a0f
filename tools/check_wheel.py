"""Builds the wheel, checks its content, installs it in a separate environment and converts a log.

Within the checkout, Python would import the source folder. Only a wheel in a separate environment,
run from another folder, behaves as it does for users. The check downloads nothing from a package
index.

An argument sets the cargo profile. The default is `wheel`, the profile of published wheels, and
copies the wheel to dist. On Linux this wheel is linked by Zig (build/publish) against an old glibc,
so that it runs on most distributions. `release` reuses an existing build.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MAX_BYTES = 8_000_000
PUBLISH = ROOT / "build" / "publish" / "bin"  # Zig and auditwheel
PLATFORM = "manylinux_2_28"
REQUIRED = (
    "rdfm/__init__.py",
    "rdfm/py.typed",
    "rdfm/_core.pyi",
    "rdfm/_core.abi3.so",
    "rdfm/spark/__init__.py",
    "pyspark_rdfm/__init__.py",
)
FORBIDDEN = ("tests/", "benchmarks/", "crates/", "spec-fixtures/", "tools/")


def build(folder: Path, profile: str) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    # pip finds the build backend's program on the PATH, which finds Zig there.
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    arguments = f"--profile {profile}"
    if is_portable(profile):
        folders.insert(0, str(PUBLISH))
        arguments += f" --zig --compatibility {PLATFORM}"
    path = os.pathsep.join(folders)
    environment = {**os.environ, "PATH": path, "MATURIN_PEP517_ARGS": arguments}
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True, env=environment)
    (wheel,) = folder.glob("rdfm-*.whl")
    return wheel


def is_portable(profile: str) -> bool:
    return profile == "wheel" and sys.platform == "linux"


def platform_error(wheel: Path) -> str | None:
    """Returns an error if the wheel needs newer system libraries than its name says."""
    command = [PUBLISH / "auditwheel", "show", wheel]
    shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r'following platform tag:\s*"manylinux_2_(\d+)_', shown)
    if PLATFORM in wheel.name and found and int(found[1]) <= 28:
        return None
    return f"not for {PLATFORM}: {shown}"


def has_symbols(extension: bytes) -> bool:
    """Whether a 64-bit ELF file (other kinds are skipped) has a symbol table section."""
    if extension[:5] != b"\x7fELF\x02":
        return False
    (start,) = struct.unpack_from("<Q", extension, 0x28)
    size, count = struct.unpack_from("<HH", extension, 0x3A)
    kinds = (struct.unpack_from("<I", extension, start + at * size + 4)[0] for at in range(count))
    return 2 in kinds


def errors_of(wheel: Path) -> list[str]:
    errors = []
    if wheel.stat().st_size > MAX_BYTES:
        errors.append(f"{wheel.stat().st_size} bytes, more than {MAX_BYTES}")
    if "-cp311-abi3-" not in wheel.name:
        errors.append(f"not an abi3 wheel: {wheel.name}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        extension = archive.read("rdfm/_core.abi3.so")
    errors += [f"lacks {name}" for name in REQUIRED if name not in names]
    share = ROOT / "wheel/data/share"
    ours = {str(path.relative_to(share)) for path in share.rglob("*") if path.is_file()}
    prefix = f"{'-'.join(wheel.name.split('-')[:2])}.data/data/share/"
    installed = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    errors += [f"share differs: {name}" for name in sorted(ours ^ installed)]
    if not any(".dist-info/sboms/" in name for name in names):
        errors.append("lacks the list of crates (SBOM)")
    for text in ("LICENSE", "THIRD_PARTY_NOTICES.txt"):
        if not any(name.endswith(f".dist-info/licenses/{text}") for name in names):
            errors.append(f"lacks {text}")
    errors += [f"contains {name}" for name in names if name.startswith(FORBIDDEN)]
    if has_symbols(extension):
        errors.append("the extension is not stripped")
    return errors


def try_out(wheel: Path, folder: Path) -> None:
    """Import the installed package from another folder, and run a conversion with its command."""
    environment = folder / "venv"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    site = next(environment.glob("lib/python*/site-packages"))
    # The dependencies come from the .venv, but the package itself must not.
    pip = [sys.executable, "-m", "pip", "--python", python]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", wheel], check=True)
    (site / "dependencies.pth").write_text(
        "\n".join(path for path in sys.path if path.endswith("site-packages"))
    )
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = {"cwd": folder, "check": True, "env": variables}
    result = subprocess.run(
        [python, "-W", "error", "-c", "import rdfm, rdfm._core; print(rdfm.__file__)"],
        stdout=subprocess.PIPE,
        text=True,
        **run,
    )
    if not result.stdout.startswith(str(environment)):
        raise SystemExit(f"another package was imported: {result.stdout}")
    for name in ("man/man1/rdfm-convert.1", "bash-completion/completions/rdfm"):
        if not (environment / "share" / name).is_file():
            raise SystemExit(f"the installed package lacks share/{name}")
    variables["PATH"] = f"{environment / 'bin'}{os.pathsep}{variables.get('PATH', os.defpath)}"
    subprocess.run(["sh", ROOT / "tools/try_installed.sh", ROOT], **run)
    (folder / "build").mkdir()
    (folder / "log.jelly").rename(folder / "build/demo.jelly")
    subprocess.run([python, ROOT / "tools/demo_spark.py", folder], stdout=subprocess.DEVNULL, **run)
    if not list(folder.glob("build/demo-spark/part-*")):
        raise SystemExit("the demo for Spark wrote nothing")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (profile,) = sys.argv[1:] or ["wheel"]
        wheel = build(folder, profile)
        errors = errors_of(wheel)
        if is_portable(profile) and (error := platform_error(wheel)):
            errors.append(error)
        for error in errors:
            print(f"{wheel.name}: {error}")
        if not errors:
            try_out(wheel, folder)
            print(f"{wheel.name}: {wheel.stat().st_size} bytes, installs and runs")
            if not sys.argv[1:]:
                for old in DIST.glob("rdfm-*.whl"):
                    old.unlink()
                DIST.mkdir(exist_ok=True)
                shutil.copy(wheel, DIST)
        return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
