// A transcript, or another log, read by windows: more is read while the reader scrolls, in both
// directions; at its end the log is followed while it grows; a search looks at all of it.
import {get} from './api.js';
import {embed, h, show} from './dom.js';
import {entryNodes} from './entry.js';
import {instead} from './parts.js';
import {toLoop} from './route.js';
import {store} from './store.js';
import {bytes} from './text.js';

const WINDOW = 200; // entries that are read at a time
const MOST = 800; // entries on the page
const NEAR = 1200; // pixels from the end of what was read, where more is read
const AT_END = 80; // pixels from the end of the page that count as the end
const BAR = 170; // pixels that the bars at the top of the page cover

export function transcript(data, route, redraw) {
	const {id} = data;
	const node = h('div', {class: 'entries', 'data-own': true, key: 'entries'});
	const opened = new Set(); // positions of entries that are unfolded
	// Which log; `latest` follows the loop to its next log.
	const of = {latest: true, iteration: null, attempt: null, log: 'stdout'};
	const window = {entries: [], begin: true, end: true, size: 0, known: false};
	const search = {text: '', hit: null, state: ''};
	let logs = [],
		logsOf = null,
		error = null;
	let opening = 0; // counts openings, so that answers about another log are dropped
	let goal = null; // 'end' or a position: where to scroll, once the entries are on the page
	let busy = false,
		unseen = false;

	// ---- the screen ----

	function isAtEnd() {
		return innerHeight + scrollY >= document.documentElement.scrollHeight - AT_END;
	}

	function toEnd() {
		scrollTo(0, document.documentElement.scrollHeight);
		unseen = false;
	}

	function elementOf(at) {
		return [...node.children].find((element) => element.getAttribute('key') === at);
	}

	// Draws the entries. What the reader sees stays where it is.
	function drawEntries(stayAtEnd) {
		const anchor = [...node.children].find(
			(element) => element.getBoundingClientRect().bottom > BAR,
		);
		const top = anchor && anchor.getBoundingClientRect().top;

		show(
			node,
			entryNodes(window.entries, {term: search.text, hit: search.hit, opened, toggle}),
		);
		if (stayAtEnd) goal = 'end';
		else if (anchor && anchor.isConnected)
			scrollBy(0, anchor.getBoundingClientRect().top - top);
		reach();
	}

	function reach() {
		if (!goal || !node.isConnected || !window.known) return;
		if (goal === 'end') toEnd();
		else focusOn(goal);
		goal = null;
	}

	function toggle(at, isOpen) {
		if (opened.has(at) === isOpen) return;
		opened[isOpen ? 'add' : 'delete'](at);
		drawEntries();
	}

	// ---- reading ----

	function read(position) {
		return get(`/api/loops/${id}/transcript`, {
			iteration: of.iteration,
			attempt: of.attempt,
			log: of.log,
			limit: WINDOW,
			...position,
		});
	}

	// Runs one reading at a time. take(answer) puts it into the window.
	async function readInto(position, take) {
		const now = opening;

		if (busy) return;
		busy = true;
		try {
			const answer = await read(position);

			if (now === opening) {
				const stay = take(answer);

				window.size = answer.size;
				window.known = true;
				error = null;
				redraw();
				drawEntries(stay);
			}
		} catch (failure) {
			if (now === opening) error = failure;
			redraw();
		}
		busy = false;
		requestAnimationFrame(look);
	}

	function readEarlier() {
		readInto({before: window.entries[0].at}, (answer) => {
			window.entries = [...answer.entries, ...window.entries];
			window.begin = answer.begin || !answer.entries.length;
			if (window.entries.length > MOST) {
				window.entries.length = MOST;
				window.end = false;
			}
		});
	}

	function readLater() {
		const last = window.entries[window.entries.length - 1];
		const stay = isAtEnd();

		readInto(!last ? {} : last.open ? {from: last.at} : {after: last.at}, (answer) => {
			const fresh = answer.entries.length > 0;

			window.entries = [
				...(last && last.open && fresh ? window.entries.slice(0, -1) : window.entries),
				...answer.entries,
			];
			window.end = answer.end || !fresh;
			if (window.entries.length > MOST) {
				window.entries.splice(0, window.entries.length - MOST);
				window.begin = false;
			}
			unseen = unseen || (fresh && !stay);
			return stay && window.end;
		});
	}

	/** Shows the end of the log, or the entries around a position. */
	async function open(at) {
		opening++;
		busy = false;
		window.known = false;
		goal = at || 'end';
		await readInto(at ? {around: at} : {}, (answer) => {
			Object.assign(window, {entries: answer.entries, begin: answer.begin, end: answer.end});
			return !at;
		});
	}

	function focusOn(at) {
		const element = elementOf(at) || elementOf(callOf(at));

		if (element) scrollBy(0, element.getBoundingClientRect().top - BAR - 20);
	}

	// A result stands in the block of its call.
	function callOf(at) {
		const i = window.entries.findIndex((entry) => entry.at === at);

		return i > 0 ? window.entries[i - 1].at : null;
	}

	// Reads more where the reader is near the end of what was read.
	function look() {
		const box = node.getBoundingClientRect();

		if (!node.isConnected || !window.known || error) return;
		if (isAtEnd() && window.end && unseen) {
			unseen = false;
			redraw();
		}
		if (!window.begin && box.top > -NEAR && window.entries.length) readEarlier();
		else if (!window.end && box.bottom < innerHeight + NEAR) readLater();
	}

	// ---- which log ----

	async function readLogs() {
		const wanted = `${of.iteration}.${of.attempt}`;

		if (logsOf === wanted || of.iteration === null) return;
		logsOf = wanted;
		try {
			logs = (await get(`/api/loops/${id}/iterations/${of.iteration}`, {attempt: of.attempt}))
				.logs;
		} catch {
			logs = [];
		}
		redraw();
	}

	// Returns the log that grows now, or the last one that there is.
	function latest() {
		const live = store.loop && store.loop.transcript;
		const last = (data.recent || [])[(data.recent || []).length - 1];

		if (live) return live;
		return last
			? {iteration: last.iteration, attempt: last.attempt, log: 'stdout'}
			: {iteration: 1, attempt: null, log: 'stdout'};
	}

	function choose(which, at) {
		Object.assign(of, {
			iteration: which.iteration,
			attempt: which.attempt,
			log: which.log || 'stdout',
		});
		search.hit = null;
		opened.clear();
		open(at);
		readLogs();
	}

	function go(to) {
		const iteration = to.query.get('iteration');

		of.latest = iteration === null;
		choose(
			of.latest
				? latest()
				: {
						iteration: Number(iteration),
						attempt: to.query.get('attempt'),
						log: to.query.get('log'),
					},
			to.query.get('at'),
		);
	}

	function follow() {
		const live = store.loop && store.loop.transcript;
		const same =
			live &&
			live.iteration === of.iteration &&
			live.log === of.log &&
			(of.attempt === null || Number(of.attempt) === live.attempt);

		if (!live) return;
		if (of.latest && !same) choose(live);
		else if (same && live.size !== window.size && window.end && window.known) readLater();
	}

	function moveTo(iteration) {
		if (iteration >= 0)
			location.hash = toLoop(id, 'transcript', {
				iteration,
				log: of.log === 'stdout' ? null : of.log,
			});
	}

	// ---- search ----

	async function find(backwards) {
		const visible = [...node.children].find(
			(element) => element.getBoundingClientRect().bottom > BAR,
		);
		const start = search.hit || (visible && visible.getAttribute('key'));
		const now = opening,
			text = search.text;
		let position = start;

		if (!text) return;
		search.state = 'searching …';
		redraw();
		try {
			for (;;) {
				const answer = await get(`/api/loops/${id}/search`, {
					iteration: of.iteration,
					attempt: of.attempt,
					log: of.log,
					text,
					[backwards ? 'before' : 'after']: position,
				});

				if (now !== opening || text !== search.text) return;
				if (answer.found) {
					await showHit(answer.found);
					search.state = '';
					break;
				}
				if (!answer.next) {
					search.state = search.hit
						? `no more ${backwards ? 'before' : 'after'} this`
						: 'not found';
					break;
				}
				position = answer.next;
			}
		} catch (failure) {
			search.state = failure.message;
		}
		redraw();
	}

	async function showHit(at) {
		search.hit = at;
		opened.add(at);
		if (!window.entries.some((entry) => entry.at === at)) await open(at);
		opened.add(callOf(at));
		drawEntries();
		for (const fold of node.querySelectorAll('.hit details, details.hit')) fold.open = true;
		focusOn(at);
	}

	// ---- the tab ----

	function searchForm() {
		return h(
			'form',
			{
				class: 'search',
				role: 'search',
				key: 'search',
				onsubmit: (event) => {
					event.preventDefault();
					find(false);
				},
			},
			h('input', {
				type: 'search',
				id: 'search',
				placeholder: 'Search',
				'aria-label': 'Search in this log',
				maxlength: 200,
				oninput: (event) => {
					search.text = event.target.value;
					search.hit = null;
					search.state = '';
					redraw();
				},
			}),
			h(
				'button',
				{
					type: 'button',
					'aria-label': 'Previous match',
					title: 'Previous match',
					onclick: () => find(true),
				},
				'↑',
			),
			h('button', {'aria-label': 'Next match', title: 'Next match'}, '↓'),
			h('span', {class: 'found', role: 'status'}, search.state),
		);
	}

	function chooser() {
		const listed = logs.some((log) => log.log === of.log)
			? logs
			: [
					...logs,
					{log: of.log, title: of.log === 'stdout' ? 'agent' : of.log, size: window.size},
				];

		return h(
			'div',
			{class: 'chooser', key: 'chooser'},
			h(
				'button',
				{
					type: 'button',
					'aria-label': 'Previous iteration',
					disabled: !of.iteration,
					onclick: () => moveTo(of.iteration - 1),
				},
				'‹',
			),
			h(
				'span',
				{class: 'number'},
				of.iteration ? `iteration ${of.iteration}` : 'baseline',
				of.attempt > 1 && `.${of.attempt}`,
			),
			h(
				'button',
				{
					type: 'button',
					'aria-label': 'Next iteration',
					onclick: () => moveTo(of.iteration + 1),
				},
				'›',
			),
			h(
				'select',
				{
					'aria-label': 'Log',
					key: `log ${listed.map((log) => log.log).join()} ${of.log}`,
					onchange: (event) => {
						location.hash = toLoop(id, 'transcript', {
							iteration: of.iteration,
							attempt: of.attempt,
							log: event.target.value,
						});
					},
				},
				listed.map((log) =>
					h('option', {value: log.log, selected: log.log === of.log}, log.title),
				),
			),
			!of.latest && h('a', {href: toLoop(id, 'transcript')}, 'latest'),
			h('span', {class: 'dim size'}, bytes(window.size)),
		);
	}

	addEventListener('scroll', look, {passive: true});
	go(route);
	return {
		go,
		draw: () => [
			h('div', {class: 'toolbar', key: 'toolbar'}, chooser(), searchForm()),
			error && instead(error),
			!window.known && !error && instead(null, 'the transcript'),
			window.known &&
				!window.entries.length &&
				h(
					'p',
					{class: 'dim', key: 'none'},
					store.loop && store.loop.ticks
						? 'Nothing has been written yet.'
						: 'This log is empty.',
				),
			window.known &&
				!window.begin &&
				h('p', {class: 'dim more', key: 'earlier'}, 'Reading earlier entries …'),
			embed(node),
			window.end &&
				store.loop &&
				store.loop.ticks &&
				of.latest &&
				h(
					'p',
					{class: 'more dim small', key: 'beat'},
					h('span', {class: 'beat', 'aria-hidden': 'true'}),
					' at work',
				),
			h(
				'div',
				{class: 'tail', key: 'tail'},
				unseen &&
					h(
						'button',
						{
							type: 'button',
							class: 'primary',
							onclick: () => (window.end ? (toEnd(), redraw()) : open()),
						},
						'New entries ↓',
					),
			),
		],
		drawn: reach,
		changed(event) {
			if (event === 'loop' || event === 'journal') follow();
			if (event === 'open' && window.known)
				// some may have been missed
				readLater();
			if (event === 'journal') logsOf = null;
			readLogs();
		},
		keys: () => [
			{key: '/', about: 'search', run: () => document.getElementById('search').focus()},
			{key: 'n', about: 'next match', run: () => find(false)},
			{key: 'N', about: 'previous match', run: () => find(true)},
			{key: 'j', about: 'scroll down', run: () => scrollBy(0, 60)},
			{key: 'k', about: 'scroll up', run: () => scrollBy(0, -60)},
			{
				key: 'g',
				about: 'to the beginning',
				run: () => (window.begin ? scrollTo(0, 0) : open('0.0')),
			},
			{key: 'G', about: 'to the end, and follow', run: () => (window.end ? toEnd() : open())},
			{key: '[', about: 'previous iteration', run: () => moveTo(of.iteration - 1)},
			{key: ']', about: 'next iteration', run: () => moveTo(of.iteration + 1)},
		],
		close: () => removeEventListener('scroll', look),
	};
}
