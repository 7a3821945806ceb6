"""Glass Encoder's server: `streamlit run app.py`. What it runs for each visitor is pages/every_page.py."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from pages.ui.server import entrance, streamlit_private

streamlit_private.ask_no_stranger()
streamlit_private.send_whole_pages()
streamlit_private.run_in_turn()
app = App("pages/every_page.py", middleware=[Middleware(entrance.Entrance)])
