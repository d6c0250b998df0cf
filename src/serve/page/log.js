// A log of a loop, of which a window of entries is known. It never draws: see transcript.js.
import {get} from './api.js';

const WINDOW = 200; // entries that are read at a time
const MOST = 800; // entries that are kept

export class Log {
	/** which: {iteration, attempt, log}, as the server lists them. */
	constructor(loop, which) {
		this.loop = loop;
		this.iteration = which.iteration;
		this.attempt = which.attempt;
		this.name = which.log || 'stdout';
		this.entries = [];
		this.begin = this.end = true; // does the window reach the ends of the log?
		this.size = 0; // bytes of the log, as far as it is known
		this.known = false; // something was read
		this.error = null;
		this.busy = false;
	}

	/** Is it the log that the server names so? */
	is(which) {
		return (
			which.iteration === this.iteration &&
			which.log === this.name &&
			(this.attempt === null || Number(this.attempt) === which.attempt)
		);
	}

	get place() {
		return {iteration: this.iteration, attempt: this.attempt, log: this.name};
	}

	// Runs one reading at a time; take(answer) puts it into the window. Returns whether it was read.
	async read(position, take) {
		if (this.busy) return false;
		this.busy = true;
		try {
			const answer = await get(`/api/loops/${this.loop}/transcript`, {
				...this.place,
				limit: WINDOW,
				...position,
			});

			take(answer);
			this.size = Math.max(this.size, answer.size);
			this.known = true;
			this.error = null;
		} catch (error) {
			this.error = error;
		}
		this.busy = false;
		return !this.error;
	}

	/** Reads the end of the log, or the entries around a position. */
	open(at) {
		return this.read(at ? {around: at} : {}, ({entries, begin, end}) =>
			Object.assign(this, {entries, begin, end}),
		);
	}

	/** Reads what is before the window. */
	earlier() {
		return this.read({before: this.entries[0].at}, ({entries, begin}) => {
			this.entries = [...entries, ...this.entries];
			this.begin = begin || !entries.length;
			if (this.entries.length > MOST) {
				this.entries.length = MOST;
				this.end = false;
			}
		});
	}

	/** Reads what is after the window; `size` is what the server has told of the log. */
	later(size = 0) {
		const last = this.entries[this.entries.length - 1];
		const position = !last ? {} : last.open ? {from: last.at} : {after: last.at};

		return this.read(position, ({entries, end}) => {
			// An entry that was open is read again.
			if (last && last.open && entries.length) this.entries.pop();
			this.entries = [...this.entries, ...entries];
			this.end = end || !entries.length;
			this.size = Math.max(this.size, size);
			if (this.entries.length > MOST) {
				this.entries.splice(0, this.entries.length - MOST);
				this.begin = false;
			}
		});
	}

	has(at) {
		return this.entries.some((entry) => entry.at === at);
	}

	/** Returns the position before another: the call of a result. */
	before(at) {
		const i = this.entries.findIndex((entry) => entry.at === at);

		return i > 0 ? this.entries[i - 1].at : null;
	}

	/** Searches all of the log from a position. Returns that of the next match, or null. */
	async search(text, from, backwards) {
		for (let at = from; ;) {
			const {found, next} = await get(`/api/loops/${this.loop}/search`, {
				...this.place,
				text,
				[backwards ? 'before' : 'after']: at,
			});

			if (found || !next) return found;
			at = next;
		}
	}
}
