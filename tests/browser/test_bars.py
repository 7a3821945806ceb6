"""The mouse on one bar of each bar chart: what stands there is that bar's, and a click chooses that one."""

import pytest
from playwright.sync_api import Page

from tests.browser.steps import SENTENCE, asked, settle, title

QUERY = "lang=en&input=sentence&layer=2&head=3&token=6&s=" + SENTENCE.replace(" ", "+")
#: page, link, and for each of its charts the field of the link that a clicked bar changes
CHARTS = [
    ("feed_forward", "panel=maps", ("neuron", "token")),
    ("add_and_norm", "panel=ways", ("token", "token")),
]
# The middle of a bar of a chart, the wanted one or the last: which it is, and where on the screen.
BAR = """(chart, wanted) => {
    const {left, top} = chart.getBoundingClientRect(), {xaxis, yaxis} = chart._fullLayout;
    const trace = chart._fullData.find(trace => trace.type === 'bar');
    const all = chart.calcdata[trace.index], place = Math.min(wanted, all.length - 1), bar = all[place];
    const along = (bar.p0 + bar.p1) / 2;
    const far = (bar.s0 + bar.s1) / 2;
    const [x, y] = trace.orientation === 'h' ? [far, along] : [along, far];
    return {place, x: left + xaxis._offset + xaxis.l2p(x), y: top + yaxis._offset + yaxis.l2p(y)};
}"""
HOVERED = "chart => (chart._hoverdata ?? []).map(point => point.pointNumber ?? point.pointIndex)"


@pytest.mark.parametrize(("name", "link", "fields"), CHARTS)
def test_the_mouse_on_a_bar_gives_that_bar(page: Page, app_url: str, name: str, link: str, fields: tuple) -> None:
    page.goto(f"{app_url}/{name}?{QUERY}&{link}")
    title(page, name)
    for which, field in enumerate(fields):
        charts = page.locator(".js-plotly-plot").filter(has=page.locator(".barlayer path"))
        chart = charts.nth(which)
        chart.locator(".barlayer path").first.wait_for(state="attached")
        chart.scroll_into_view_if_needed()
        bar = chart.evaluate(BAR, 2 + which)
        page.mouse.move(bar["x"], bar["y"])
        over = [chart.element_handle(), bar["place"]]
        page.wait_for_function(f"([chart, place]) => ({HOVERED})(chart).includes(place)", arg=over)
        if field == "token":
            page.mouse.click(bar["x"], bar["y"])
            page.wait_for_url(lambda url, wanted=str(bar["place"] + 1): asked(url).get("token") == wanted)
        elif field:
            before = asked(page.url).get(field)
            page.mouse.click(bar["x"], bar["y"])
            page.wait_for_url(lambda url, field=field, before=before: asked(url).get(field) not in (None, before))
        settle(page)


def test_a_part_of_a_score_leads_to_where_it_was_computed(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/attention?{QUERY}&why=true")
    title(page, "attention")
    chart = page.locator(".js-plotly-plot").filter(has=page.locator(".barlayer path"))
    chart.locator(".barlayer path").first.wait_for(state="attached")
    chart.scroll_into_view_if_needed()
    bar = chart.evaluate(BAR, 1)  # behind the mean of the row: FFN 1, which found out the positions
    page.mouse.click(bar["x"], bar["y"])
    title(page, "feed_forward")
    page.wait_for_url(lambda url: asked(url).get("stage") == "output" and asked(url).get("layer") == "1")
    settle(page)
