// Requests to the server, and its events. The interface is described in docs/serve.md.

// A browser sends cookies to each server on this host, whatever its port. What a page stores belongs
// to its port alone: requests need a key as well, which a link leaves in the address.
const KEY = 'ringfence-key';
const HEADER = 'X-Ringfence-Token';

function key() {
	return localStorage.getItem(KEY) || '';
}

/** Keeps a key if it is right: any site may have a link with a wrong one. */
async function keep(brought) {
	const answer = await fetch('/api/session', {headers: {[HEADER]: brought}});

	if (answer.ok) localStorage.setItem(KEY, brought);
}

const brought = /^#key=([0-9a-f]{64})$/.exec(location.hash);
if (brought) {
	history.replaceState(null, '', '#/');
	await keep(brought[1]).catch(() => {});
}

/** A request that failed: `status` is a word of the interface, `details` belong to an action. */
class Failure extends Error {
	constructor(status, message, details) {
		super(message);
		this.status = status;
		this.details = details;
	}
}

const BUSY_MOST = 5; // times that a request is repeated while the server is busy

function pause(seconds) {
	return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

async function send(path, options, tries = 0) {
	let response, body;

	try {
		response = await fetch(path, {
			...options,
			credentials: 'same-origin',
			headers: {...options.headers, [HEADER]: key()},
		});
		body = await response.json();
	} catch (error) {
		if (error.name === 'AbortError') throw error;
		throw new Failure(
			'offline',
			'The server does not answer. Is `ringfence serve` still running?',
		);
	}
	if (response.ok) return body;
	if (response.status === 503 && tries < BUSY_MOST) {
		await pause(Number(response.headers.get('Retry-After')) || 1);
		return send(path, options, tries + 1);
	}
	const told = body.error || {};
	throw new Failure(
		told.status || 'failed',
		told.message || `HTTP ${response.status}`,
		body.details,
	);
}

/** Returns the path with its query; parameters that are null or undefined are left out. */
export function address(path, parameters = {}) {
	const query = new URLSearchParams();

	for (const [name, value] of Object.entries(parameters))
		if (value !== null && value !== undefined) query.set(name, value);
	return query.size ? `${path}?${query}` : path;
}

/** Reads a route. A signal ends the request when a view no longer needs it. */
export function get(path, parameters, signal) {
	return send(address(path, parameters), {signal});
}

export function session() {
	return get('/api/session');
}

/** Returns the address of something that the browser itself reads. */
export function keyed(path, parameters) {
	return address(path, {...parameters, key: key()});
}

export function post(path, body) {
	return send(path, {
		method: 'POST',
		headers: {'Content-Type': 'application/json'},
		body: JSON.stringify(body),
	});
}

const RETRY_MS = 1000;
const EVENTS = ['hello', 'rows', 'ready', 'loop', 'gone'];

/**
 * Listens to the server's events until stopped; returns the function that stops it. on(name, data)
 * gets each event with its id, and 'open', 'lost' and 'unauthorized' for the connection itself.
 */
export function listen(parameters, on) {
	let source,
		timer,
		stopped = false;

	function connect() {
		source = new EventSource(keyed('/api/events', parameters));
		source.onopen = () => on('open');
		source.onerror = lost;
		for (const name of EVENTS)
			source.addEventListener(name, (event) =>
				on(name, JSON.parse(event.data), event.lastEventId),
			);
	}

	// A browser reconnects by itself, unless the answer was an error: then nobody tells why.
	async function lost() {
		on('lost');
		if (source.readyState !== EventSource.CLOSED) return;
		try {
			await session();
		} catch (error) {
			if (error.status === 'unauthorized') on('unauthorized');
		}
		if (!stopped) timer = setTimeout(connect, RETRY_MS);
	}

	connect();
	return () => {
		stopped = true;
		clearTimeout(timer);
		source.close();
	};
}
