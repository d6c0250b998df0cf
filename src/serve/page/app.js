// The page: from the address to a view, from changes to a new drawing.
//
// A view is an object with draw(), which returns what stands on the page, and title(). It may have
// go(route) for a new address that it can show as well, changed(event) for news of the server,
// keys(), drawn() after each drawing, and close().
import {batch} from './batch.js';
import {h, show} from './dom.js';
import {icon} from './icon.js';
import {setPageKeys, setViewKeys, showKeys} from './keys.js';
import {loop} from './loop.js';
import {overview} from './overview.js';
import {routeOf} from './route.js';
import {start, store} from './store.js';

const TICK_MS = 1000;
const IDLE_TICKS = 20;
const VIEWS = {loops: loop, batches: batch};

const main = document.getElementById('main');
let view = null;
let shown = null; // the kind and id that the view shows
let scheduled = false;

function redraw() {
	if (!scheduled) requestAnimationFrame(draw);
	scheduled = true;
}

function signedOut() {
	return h(
		'section',
		{class: 'empty'},
		h('h1', {}, 'This browser is not signed in'),
		h('p', {}, 'Print a new link in a terminal, and open it here:'),
		h('pre', {tabindex: 0}, 'ringfence serve --link'),
	);
}

function connection() {
	const words = {
		open: ['live', 'dot', 'live'],
		connecting: ['dim', 'ring', 'connecting'],
		unauthorized: ['bad', 'cross', 'signed out'],
		lost: ['warn', 'alert', 'connection lost, retrying'],
	};
	const [tone, name, text] = words[store.connection];

	return h('span', {class: tone}, icon(name), text);
}

function draw() {
	scheduled = false;
	show(document.getElementById('connection'), connection());
	document.documentElement.dataset.connection = store.connection;
	show(
		document.getElementById('place'),
		store.session && [store.session.user, store.session.host].filter(Boolean).join('@'),
	);
	if (store.connection === 'unauthorized') {
		show(main, signedOut());
		return;
	}
	show(main, view.draw());
	document.title = `${view.title()} · Ringfence`;
	setViewKeys(view.keys ? view.keys() : []);
	if (view.drawn) view.drawn();
}

function open() {
	if (location.hash === '#main') {
		// the skip link
		history.replaceState(null, '', shown ? shown.hash : '#/');
		main.focus();
		return;
	}
	const route = routeOf(location.hash);
	const [kind, id] = route.parts;
	const make = VIEWS[kind] && id ? VIEWS[kind] : overview;
	const same = shown && shown.make === make && shown.id === id;
	const first = !shown;

	shown = {make, id, hash: location.hash || '#/'};
	if (same) {
		if (view.go) view.go(route);
	} else {
		if (view && view.close) view.close();
		show(main);
		view = make(route, redraw);
		scrollTo(0, 0);
		if (!first) main.focus({preventScroll: true});
	}
	draw();
}

function onChange(event) {
	if (view.changed) view.changed(event);
	redraw();
}

setPageKeys([
	{key: '?', about: 'show the keys', run: showKeys},
	{
		key: 'o',
		about: 'overview',
		run: () => {
			location.hash = '#/';
		},
	},
]);
document.getElementById('keys').onclick = showKeys;
addEventListener('hashchange', open);
open();
start(onChange);

// Clocks go on without events: each second while something is at work, and "3 min ago" a few times
// a minute.
let ticks = 0;
setInterval(() => {
	const busy =
		(store.loop && store.loop.ticks) || [...store.rows.values()].some((row) => row.ticks);

	if (!document.hidden && (busy || ticks++ % IDLE_TICKS === 0)) redraw();
}, TICK_MS);
