// The icons, as paths on a grid of 16; no font, no picture to fetch.

const PATHS = {
  play: '<path class="fill" d="M4 2.6 13 8 4 13.4Z"/>',
  pause: '<path class="fill" d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"/>',
  step: '<path class="fill" d="M3 3 9.5 8 3 13Z"/><path d="M12.5 3v10"/>',
  reset: '<path d="M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5h2.6"/>',
  follow: '<circle cx="8" cy="8" r="4.5"/><path d="M8 1v3M8 12v3M1 8h3M12 8h3"/>',
  fit: '<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/>',
  shot: '<rect x="1.8" y="4" width="12.4" height="9" rx="2"/><circle cx="8" cy="8.5" r="2.4"/><path d="M6 4l.8-1.6h2.4L10 4"/>',
  theme: '<circle cx="8" cy="8" r="5.6"/><path class="fill" d="M8 2.4a5.6 5.6 0 0 1 0 11.2Z"/>',
  help: '<path d="M5.6 5.8a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.9M8 12.4v.2"/>',
  panel: '<rect x="2" y="3" width="12" height="10" rx="2"/><path d="M10 3v10"/>',
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = PATHS[name];
  return svg;
}
