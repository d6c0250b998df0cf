// Icons: shapes beside colours, so that a status is readable without seeing colours.
import {h, svg} from './dom.js';

const PATHS = {
	dot: 'M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
	check: 'M13.5 3.6 6.4 11.3 2.6 7.6 1.4 8.8l5.1 4.9 8.3-8.9z',
	cross: 'M3.5 2.3 2.3 3.5 6.8 8l-4.5 4.5 1.2 1.2L8 9.2l4.5 4.5 1.2-1.2L9.2 8l4.5-4.5-1.2-1.2L8 6.8z',
	pause: 'M4 2.5h2.8v11H4zm5.2 0H12v11H9.2z',
	clock: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.7a5.3 5.3 0 1 1 0 10.6A5.3 5.3 0 0 1 8 2.7zM7.2 4.5v4l2.9 1.9.9-1.3-2.2-1.4V4.5z',
	alert: 'M8 1.2 15.3 14H.7zM7.2 6v4.2h1.6V6zm0 5.2v1.6h1.6v-1.6z',
	stop: 'M3 3h10v10H3z',
	ring: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 1.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4z',
	list: 'M1.5 2.5h3v3h-3zm5 .7h8v1.6h-8zm-5 3.3h3v3h-3zm5 .7h8v1.6h-8zm-5 3.3h3v3h-3zm5 .7h8v1.6h-8z',
	tool: 'M2 3h12v10H2zm1.5 1.5v7h9v-7zM4.4 6l1-1 3 3-3 3-1-1 2-2zM8.5 9.6H12V11H8.5z',
	file: 'M3.5 1.5h6l3 3v10h-9zM5 3v10h6V5.2H8.8V3z',
	spark: 'M8 1l1.6 5.4L15 8l-5.4 1.6L8 15l-1.6-5.4L1 8l5.4-1.6z',
	chat: 'M1.5 2.5h13v9H7l-3.5 3v-3h-2z',
	key: 'M1.5 4h13v8h-13zM3 5.5v5h10v-5zM4 6.5h1.5V8H4zm2.5 0H8V8H6.5zm2.5 0h1.5V8H9zm-4 2.2h6v1.2H5z',
};

/** Returns an icon. It says nothing by itself: a text stands beside it. */
export function icon(name) {
	return svg(
		'svg',
		{class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true'},
		svg('path', {d: PATHS[name], 'fill-rule': 'evenodd'}),
	);
}

// [tone, icon] of each status of a loop or work list.
const STATUSES = {
	starting: ['live', 'dot'],
	running: ['live', 'dot'],
	restarting: ['live', 'dot'],
	waiting: ['warn', 'clock'],
	paused: ['warn', 'pause'],
	interrupted: ['warn', 'alert'],
	completed: ['good', 'check'],
	limit: ['warn', 'stop'],
	failed: ['bad', 'cross'],
	aborted: ['dim', 'cross'],
	damaged: ['bad', 'alert'],
};

export function toneOf(status) {
	return (STATUSES[status] || ['dim'])[0];
}

export function statusIcon(status) {
	const [tone, name] = STATUSES[status] || ['dim', 'ring'];

	return h('span', {class: `shape ${tone}`}, icon(name));
}

/** Returns the status as a word in a frame. */
export function pill(status, text = status) {
	const [tone, name] = STATUSES[status] || ['dim', 'ring'];

	return h('span', {class: `pill ${tone}`}, icon(name), text);
}

/** Returns "passed" or another outcome, with its shape. */
export function outcome(ok, text) {
	return h('span', {class: `outcome ${ok ? 'good' : 'bad'}`}, icon(ok ? 'check' : 'cross'), text);
}
