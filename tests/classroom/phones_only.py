"""A worker that has phones and no Streamlit: quickly begun, and ended as hard as one likes. `phones_only.py PORT`."""

import sys

import uvicorn
from starlette.applications import Starlette

from pages.school.classroom.hall import Hall
from pages.school.classroom.routes import routes
from pages.school.classroom.store import store

if __name__ == "__main__":
    hall = Hall(store)
    app = Starlette(routes=routes(hall), lifespan=lambda _: hall.open())
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
