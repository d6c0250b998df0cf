// Addresses of the page: #/loops/ID/transcript?iteration=3.

function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** Returns {parts, query} of what stands behind the # of an address. */
export function routeOf(hash) {
	const [path, query] = hash.replace(/^#\/?/, '').split('?');

	return {
		parts: path.split('/').filter(Boolean).map(decode),
		query: new URLSearchParams(query || ''),
	};
}

function withQuery(path, parameters) {
	const some = Object.entries(parameters).filter(
		([, value]) => value !== null && value !== undefined && value !== '',
	);
	const query = new URLSearchParams(some);

	return query.size ? `${path}?${query}` : path;
}

export function toOverview(filter) {
	return withQuery('#/', {q: filter});
}

/** Returns the address of a loop, or of what is below it. */
export function toLoop(id, path = '', parameters = {}) {
	return withQuery(`#/loops/${encodeURIComponent(id)}${path && `/${path}`}`, parameters);
}

export function toBatch(id) {
	return `#/batches/${encodeURIComponent(id)}`;
}
