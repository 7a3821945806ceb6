"""A worker that serves phones without Streamlit: starts fast and may be killed. `phones_only.py PORT`.

Its waits are shorter than a real worker's.
"""

import sys

import uvicorn
from starlette.applications import Starlette

from pages.school.classroom import door, hall
from pages.school.classroom.routes import routes
from pages.school.classroom.store import store

LONGEST_WAIT, STAYS = 2.0, 2.0  # seconds

if __name__ == "__main__":
    door.LONGEST_WAIT, hall.TELL_PRESENT, hall.STAYS = LONGEST_WAIT, 0.5, STAYS
    phones = hall.Hall(store)
    app = Starlette(routes=routes(phones), lifespan=lambda _: phones.open())
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
