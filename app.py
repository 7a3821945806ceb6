"""Glass Encoder's server: `streamlit run app.py`. What it runs for each visitor is pages/every_page.py."""

from starlette.middleware import Middleware
from streamlit import get_option
from streamlit.starlette import App

from pages.school.classroom.hall import Hall
from pages.school.classroom.routes import routes
from pages.school.classroom.store import store
from pages.server import entrance, log, streamlit_private

streamlit_private.ask_no_stranger()
streamlit_private.send_whole_pages()
streamlit_private.send_blocks_before_their_parts()
streamlit_private.run_in_turn()
streamlit_private.read_settings_once()
streamlit_private.bound_messages()
streamlit_private.hold_one_file()
log.quieten()
hall = Hall(store)  # the phones of a class, which get no Streamlit
app = App(
    "pages/every_page.py",
    middleware=[Middleware(entrance.Entrance)],
    routes=routes(hall, get_option("server.baseUrlPath")),
    lifespan=lambda _: hall.open(),
)
