"""Visitors who ask for memory: web sockets with a message that does not end, and texts too long for their box."""

import asyncio
import secrets
from base64 import b64encode

from websockets.exceptions import ConnectionClosed

from tests.classroom.server import Server
from tests.classroom.visitor import Visitor

MEGABYTE = 1_000_000
SETTLED = 2  # seconds after the last byte
PART = 64_000  # bytes that are sent at once
BINARY, MASKED, LENGTH_OF_8 = 0x82, 0x80, 127  # RFC 6455, 5.2


async def hold(server: Server, sockets: int, size: int) -> float:
    """The memory of the largest worker, in MB, while so many web sockets have sent all but a byte of such a message."""
    lines = [await _open(server.address) for _ in range(sockets)]
    await asyncio.gather(*(_send(line, size) for line in lines))
    await asyncio.sleep(SETTLED)
    memory = server.memory()
    for line in lines:
        line.close()
    return memory


async def _open(address: str) -> asyncio.StreamWriter:
    """A web socket, of nobody in particular."""
    reader, writer = await asyncio.open_connection(*address.split(":"))
    lines = [f"GET /_stcore/stream HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade"]
    lines += [f"Sec-WebSocket-Key: {b64encode(secrets.token_bytes(16)).decode()}", "Sec-WebSocket-Version: 13"]
    writer.write("\r\n".join([*lines, "Sec-WebSocket-Protocol: streamlit", "", ""]).encode())
    assert (await reader.readline()).split()[1] == b"101"
    return writer


async def _send(line: asyncio.StreamWriter, size: int) -> None:
    """As much as the server takes."""
    try:
        line.write(bytes([BINARY, MASKED | LENGTH_OF_8]) + size.to_bytes(8) + bytes(4))
        for begin in range(0, size - 1, PART):
            line.write(bytes(min(PART, size - 1 - begin)))
            await line.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        return


async def paste(server: Server, visitors: int, characters: int) -> float:
    """The memory of the largest worker, in MB, after visitors have put so much into Homework's box and left."""
    for number in range(visitors):
        visitor = Visitor(server.address, comes_back=False)
        await visitor.open("lesson", "lang=en")
        await visitor.unfold("lesson.homework")
        try:
            await visitor.set(**{"homework.pasted": f"{number} {secrets.token_hex(characters // 2)}"})
        except ConnectionClosed:  # too long for a message
            continue
        await visitor.close()
    await asyncio.sleep(SETTLED)
    return server.memory()
