"""Tar archives written with tarfile."""

import io
import tarfile


def tar(*members, format=tarfile.PAX_FORMAT, **attributes):
    """Returns an archive.

    Each member is a name, its bytes and optional attributes. The keyword arguments are attributes
    of all members.
    """
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as out:
        for name, data, *rest in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in {**attributes, **(rest[0] if rest else {})}.items():
                setattr(info, key, value)
            out.addfile(info, io.BytesIO(data))
    return file.getvalue()
