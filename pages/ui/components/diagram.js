export default function ({ data, parentElement, setTriggerValue }) {
  const add = (parent, name, attributes, text) => {
    const node = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    (text ?? "").split(/_(\w+)/).forEach((part, i) => {  // W_O: the O stands lower
      if (!text || !part) return;
      if (name === "text" && i % 2) {
        add(node, "tspan", { dy: "0.3em", "font-size": "75%" }, part);
        add(node, "tspan", { dy: "-0.225em" }, "\u200b");
      } else node.append(part);
    });
    return node;
  };
  const colour = (thing) => (thing.colour ? `--line: ${thing.colour}` : "");
  const root = parentElement.querySelector(".diagram");
  root.replaceChildren();
  const svg = root.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
  svg.style.maxWidth = `${data.width / 16.5}rem`;
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);

  const size = { viewBox: "0 0 10 10", markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse" };
  const head = add(add(svg, "defs", {}), "marker", { id: "head", orient: "auto", refX: 9, refY: 5, ...size });
  add(head, "path", { d: "M0 0L10 5L0 10z", class: "head" });
  for (const frame of data.frames) add(svg, "rect", { ...frame, rx: 14, class: "frame" });

  for (const arrow of data.arrows) {
    const kind = arrow.residual ? "arrow residual" : "arrow";
    const line = { d: "M" + arrow.points.map((point) => point.join(" ")).join("L"), class: kind, style: colour(arrow) };
    const path = add(svg, "path", { ...line, "marker-end": "url(#head)" });
    add(path, "title", {}, `${arrow.symbol} ${arrow.shape}`);
  }
  for (const arrow of data.arrows.filter((arrow) => arrow.label)) {
    const [x, y] = arrow.label;
    add(svg, "text", { x, y, class: "shape" }, arrow.written);
  }
  for (const box of data.boxes) {
    const names = { tabindex: 0, role: "link", "aria-label": `${box.text.replace("_", " ")}. ${box.hint}` };
    const group = add(svg, "g", { ...names, class: box.colour ? "box coloured" : "box", style: colour(box) });
    group.dataset.box = box.name;
    add(group, "title", {}, box.hint);
    const { x, y, width, height } = box;
    add(group, "rect", { x, y, width, height, rx: Math.min(10, width / 2) * (width === height ? 1.3 : 1) });
    const middle = x + width / 2;
    add(group, "text", { x: middle, y: y + height * (box.note ? 0.34 : 0.5) }, box.text);
    if (box.note) add(group, "text", { x: middle, y: y + height * 0.74, class: "note" }, box.note);
    const open = () => setTriggerValue("open", box.name);
    group.onclick = open;
    group.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    };
  }
}
