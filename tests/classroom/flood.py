"""Visitors who ask for memory: endless web socket messages, texts too long for their box, and files nobody reads."""

import asyncio
import secrets
from base64 import b64encode
from pathlib import Path
from urllib.error import URLError

import psutil
from websockets.exceptions import ConnectionClosed

from tests.classroom.server import Server
from tests.classroom.visitor import Visitor

MEGABYTE = 1_000_000
SETTLED = 0.5  # seconds after the last byte
PART = 64_000  # bytes sent at once
BINARY, MASKED, LENGTH_OF_8 = 0x82, 0x80, 127  # RFC 6455, section 5.2


async def hold(server: Server, sockets: int, size: int) -> float:
    """Memory of the largest worker, in MB, while `sockets` connections have sent a message but for its last byte."""
    lines = [await _open(server.address) for _ in range(sockets)]
    await asyncio.gather(*(_send(line, size) for line in lines))
    await asyncio.sleep(SETTLED)
    memory = server.memory()
    for line in lines:
        line.close()
    return memory


async def _open(address: str) -> asyncio.StreamWriter:
    """Open a web socket without a session."""
    reader, writer = await asyncio.open_connection(*address.split(":"))
    lines = [f"GET /_stcore/stream HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade"]
    lines += [f"Sec-WebSocket-Key: {b64encode(secrets.token_bytes(16)).decode()}", "Sec-WebSocket-Version: 13"]
    writer.write("\r\n".join([*lines, "Sec-WebSocket-Protocol: streamlit", "", ""]).encode())
    assert (await reader.readline()).split()[1] == b"101"
    return writer


async def _send(line: asyncio.StreamWriter, size: int) -> None:
    """Send as much as the server takes."""
    try:
        line.write(bytes([BINARY, MASKED | LENGTH_OF_8]) + size.to_bytes(8) + bytes(4))
        for begin in range(0, size - 1, PART):
            line.write(bytes(min(PART, size - 1 - begin)))
            await line.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        return


async def paste(server: Server, visitors: int, characters: int) -> float:
    """Memory of the largest worker, in MB, after visitors have pasted a long text on the page Lesson and left."""
    for number in range(visitors):
        visitor = Visitor(server.address, comes_back=False)
        await visitor.open("lesson", "lang=en")
        await visitor.unfold("lesson.teachers")
        await visitor.unfold("lesson.homework")
        try:
            await visitor.set(**{"homework.pasted": f"{number} {secrets.token_hex(characters // 2)}"})
        except ConnectionClosed:  # too long for a message
            continue
        await visitor.close()
    await asyncio.sleep(SETTLED)
    return server.memory()


async def send(server: Server, visitors: int, files: int, size: int) -> float:
    """Peak memory of the largest worker, in MB, while each visitor sends files that nobody reads."""
    memory = []

    async def visit() -> None:
        visitor = Visitor(server.address, comes_back=False)
        await visitor.open("heads", "lang=en")
        for number in range(files):
            try:
                await visitor.send(bytes(size), f"{number}")
            except URLError:  # refused or cut off
                continue
            finally:
                memory.append(server.memory())
        await visitor.close()

    await asyncio.gather(*(visit() for _ in range(visitors)))
    await asyncio.sleep(SETTLED)
    return max(*memory, server.memory())


async def send_without_end(server: Server, visitors: int, size: int) -> float:
    """Peak memory of the largest worker and its temporary files, in MB, while visitors send unfinished files: in turn
    chunked, and one byte short of their announced length.
    """
    sent = []
    for number in range(visitors):
        visitor = Visitor(server.address, comes_back=False)
        await visitor.open("heads", "lang=en")
        await visitor.ask_for_a_cookie()
        path, headers = visitor.upload("a")
        length = f"Content-Length: {size + 1}" if number % 2 else "Transfer-Encoding: chunked"
        told = [*(f"{name}: {value}" for name, value in headers.items()), length, f"Host: {server.address}"]
        _, line = await asyncio.open_connection(*server.address.split(":"))
        line.write("\r\n".join([f"PUT {path} HTTP/1.1", *told, "", ""]).encode())
        sent.append((visitor, line, asyncio.create_task(_body(line, size, not number % 2))))
    memory = []
    for _ in range(10):
        ended = all(body.done() for *_, body in sent)
        await asyncio.sleep(0.5)
        memory.append(server.memory() + sum(map(_unlinked, server.workers())) / MEGABYTE)
        if ended:
            break
    for visitor, line, body in sent:
        body.cancel()
        line.close()
        await visitor.close()
    return max(memory)


async def _body(line: asyncio.StreamWriter, size: int, chunked: bool) -> None:
    """Send as much of a file as the server takes."""
    part = b'---\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n'
    try:
        for _ in range(size // PART):
            line.write(f"{len(part):x}\r\n".encode() + part + b"\r\n" if chunked else part)
            part = bytes(PART)
            await line.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        return


def _unlinked(process: psutil.Process) -> int:
    """Bytes of open files that were deleted; 0 except on Linux."""
    opened = Path(f"/proc/{process.pid}/fd")
    files = list(opened.iterdir()) if opened.exists() else []
    return sum(file.stat().st_size for file in files if file.exists() and "(deleted)" in str(file.readlink()))
