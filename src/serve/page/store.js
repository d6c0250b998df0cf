// What the server has told last: the rows of the overview, and the loop that is looked at. Views
// read it, and are drawn again when it changes.
import * as api from './api.js';

export const store = {
	session: null,
	connection: 'connecting', // or 'open', 'lost', 'unauthorized'
	ready: false, // all rows are here
	rows: new Map(), // by id
	loop: null, // the event `loop` of the one that is looked at
	gone: false, // it does not exist, or was removed
};

let watched = null;
let stop = null;
let skew = 0; // the server's clock minus ours
let last = null; // the id of the last event
let old = new Set(); // rows of which the server has not told again since it forgot what it told
let changed = () => {};

/** Returns the server's time. */
export function now() {
	return Date.now() + skew;
}

/** Returns a time that goes on while the row or loop ticks, and was true when it was received. */
export function ticking(ms, of) {
	return of.ticks ? ms + Math.max(0, now() - of.time_ms) : ms;
}

const handlers = {
	open() {
		store.connection = 'open';
	},
	lost() {
		if (store.connection !== 'unauthorized') store.connection = 'lost';
	},
	unauthorized() {
		store.connection = 'unauthorized';
	},
	hello(data) {
		skew = data.time_ms - Date.now();
		if (data.reset) old = new Set(store.rows.keys());
	},
	rows(data) {
		for (const row of data.rows) {
			store.rows.set(row.id, {...row, time_ms: row.at_ms});
			old.delete(row.id);
		}
		for (const id of data.gone) store.rows.delete(id);
	},
	ready() {
		for (const id of old) store.rows.delete(id);
		old.clear();
		store.ready = true;
	},
	loop(data) {
		if (data.id === watched) {
			store.loop = data;
			store.gone = false;
		}
	},
	gone(data) {
		if (data.id === watched) store.gone = true;
	},
};

function connect() {
	stop = api.listen({loop: watched, last}, (name, data, id) => {
		last = id || last;
		handlers[name](data);
		changed(name);
	});
}

function disconnect() {
	if (stop) stop();
	stop = null;
}

/** Looks at this loop, or at none (null). */
export function watch(id) {
	if (id === watched) return;
	watched = id;
	store.loop = null;
	store.gone = false;
	if (stop) {
		disconnect();
		connect();
	}
}

// A browser has six connections to a server, for all its tabs together. A tab that nobody sees
// gives its own up.
function onVisibility() {
	if (document.hidden) {
		disconnect();
	} else if (!stop) {
		connect();
	}
}

/** Connects, and from then on calls this function after each change, with the event's name. */
export function start(onChange) {
	changed = onChange;
	document.addEventListener('visibilitychange', onVisibility);
	connect();
	api.session().then(
		(told) => {
			store.session = told;
			changed('session');
		},
		(error) => {
			if (error.status === 'unauthorized') handlers.unauthorized();
			changed('session');
		},
	);
}
