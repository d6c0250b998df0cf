// A transcript, or another log: more is read while the reader scrolls, in both directions; at its
// end the log is followed while it grows; a search looks at all of it.
import {get} from './api.js';
import {embed, h, show} from './dom.js';
import {entryNodes} from './entry.js';
import {Log} from './log.js';
import {instead} from './parts.js';
import {toLoop} from './route.js';
import {store} from './store.js';
import {bytes} from './text.js';

const NEAR = 1200; // pixels from the end of what was read, where more is read
const AT_END = 80; // pixels from the end of the page that count as the end
const BAR = 130; // pixels that the bars at the top of the page cover

export function transcript(data, route, redraw) {
	const {id} = data;
	const node = h('div', {class: 'entries', 'data-own': true, key: 'entries'});
	const opened = new Set(); // positions of entries that are unfolded
	const search = {text: '', hit: null, state: ''};
	let log = new Log(id, {iteration: null, attempt: null});
	let latest = true; // the log is the one that the loop writes now
	let goal = null; // 'end' or a position: where to scroll, once the entries are on the page
	let unseen = false; // there is more at the end
	let logs = []; // of the iteration
	let logsOf = null;

	// ---- the screen ----

	function isAtEnd() {
		return innerHeight + scrollY >= document.documentElement.scrollHeight - AT_END;
	}

	function onScreen() {
		return [...node.children].find((element) => element.getBoundingClientRect().bottom > BAR);
	}

	// Draws the entries. What the reader sees stays where it is.
	function drawEntries() {
		const anchor = onScreen();
		const top = anchor && anchor.getBoundingClientRect().top;

		show(node, entryNodes(log.entries, {term: search.text, hit: search.hit, opened, toggle}));
		if (anchor && anchor.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - top);
		reach();
	}

	function toggle(at, isOpen) {
		if (opened.has(at) === isOpen) return;
		opened[isOpen ? 'add' : 'delete'](at);
		drawEntries();
	}

	// Scrolls to the goal. A result stands in the block of its call.
	function reach() {
		if (!goal || !node.isConnected || !log.known) return;
		const keys = [goal, log.before(goal)];
		const found = [...node.children].find((each) => keys.includes(each.getAttribute('key')));

		if (goal === 'end') scrollTo(0, document.documentElement.scrollHeight);
		else if (found) scrollBy(0, found.getBoundingClientRect().top - BAR - 20);
		unseen = unseen && goal !== 'end';
		goal = null;
	}

	// ---- reading ----

	// Draws what was read, and goes on where more is needed. An answer about another log is late.
	async function read(of, reading) {
		const was = await reading;

		if (of !== log) return;
		redraw();
		if (was) {
			drawEntries();
			requestAnimationFrame(look);
		}
	}

	function open(at) {
		goal = at || 'end';
		return read(log, log.open(at));
	}

	function readLater(size) {
		const stay = isAtEnd();
		const last = log.entries[log.entries.length - 1];

		if (log.busy) return;
		read(
			log,
			log.later(size).then((was) => {
				const fresh = log.entries[log.entries.length - 1] !== last;

				if (stay && log.end) goal = 'end';
				else unseen = unseen || fresh;
				return was;
			}),
		);
	}

	// Reads more where the reader is near the end of what was read.
	function look() {
		const box = node.getBoundingClientRect();

		if (!node.isConnected || !log.known || log.error || log.busy) return;
		if (unseen && log.end && isAtEnd() && isNewest()) {
			unseen = false;
			redraw();
		}
		if (!log.begin && box.top > -NEAR && log.entries.length) read(log, log.earlier());
		else if (!log.end && box.bottom < innerHeight + NEAR) readLater();
		else follow();
	}

	// ---- which log ----

	async function readLogs() {
		const wanted = `${log.iteration}.${log.attempt}`;

		if (logsOf === wanted || log.iteration === null) return;
		logsOf = wanted;
		try {
			const {attempt} = log;

			logs = (await get(`/api/loops/${id}/iterations/${log.iteration}`, {attempt})).logs;
		} catch {
			logs = [];
		}
		redraw();
	}

	// Returns the log that grows now, or the last one that there is; null if that is not known yet.
	function newest() {
		const live = store.loop && store.loop.transcript;
		const last = data.recent && data.recent[data.recent.length - 1];

		return (
			live ||
			(last ? {iteration: last.iteration, attempt: last.attempt, log: 'stdout'} : null)
		);
	}

	function isNewest() {
		return !latest || !newest() || log.is(newest());
	}

	function choose(which, at) {
		log = new Log(id, which);
		search.hit = null;
		opened.clear();
		unseen = false;
		open(at);
		readLogs();
	}

	function go(to) {
		const query = (name) => to.query.get(name);

		latest = query('iteration') === null;
		if (!latest)
			choose(
				{
					iteration: Number(query('iteration')),
					attempt: query('attempt'),
					log: query('log'),
				},
				query('at'),
			);
		else if (newest()) choose(newest());
	}

	// Reads what is new. A reader who is not at the end is not taken to another log.
	function follow() {
		const live = store.loop && store.loop.transcript;

		if (!isNewest()) {
			if (!log.known || isAtEnd()) choose(newest());
			else unseen = true;
		} else if (live && log.is(live) && live.size > log.size && log.end && log.known) {
			readLater(live.size);
		}
	}

	function toNewest() {
		if (!isNewest()) {
			choose(newest());
		} else if (log.end) {
			goal = 'end';
			reach();
		} else {
			open();
		}
		redraw();
	}

	function moveTo(iteration) {
		const name = log.name === 'stdout' ? null : log.name;

		if (iteration >= 0) location.hash = toLoop(id, 'transcript', {iteration, log: name});
	}

	// ---- search ----

	async function find(backwards) {
		const {text} = search;
		const of = log;
		const start = onScreen();

		if (!text) return;
		search.state = 'searching …';
		redraw();
		try {
			const from = search.hit || (start && start.getAttribute('key'));
			const found = await log.search(text, from, backwards);

			if (of !== log || text !== search.text) return;
			if (found) await showHit(found);
			search.state = found
				? ''
				: search.hit
					? `no more ${backwards ? 'before' : 'after'} this`
					: 'not found';
		} catch (error) {
			search.state = error.message;
		}
		redraw();
	}

	async function showHit(at) {
		search.hit = at;
		if (!log.has(at)) await open(at);
		opened.add(at).add(log.before(at));
		drawEntries();
		for (const fold of node.querySelectorAll('.hit details')) fold.open = true;
		goal = at;
		reach();
	}

	// ---- the tab ----

	function searchForm() {
		const button = (title, text, onclick) =>
			h('button', {type: onclick && 'button', 'aria-label': title, title, onclick}, text);

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
			button('Previous match', '↑', () => find(true)),
			button('Next match', '↓'),
			h('span', {class: 'found', role: 'status'}, search.state),
		);
	}

	function chooseLog() {
		const own = {log: log.name, title: log.name === 'stdout' ? 'agent' : log.name};
		const listed = logs.some((each) => each.log === log.name) ? logs : [...logs, own];

		return h(
			'select',
			{
				'aria-label': 'Log',
				key: `log ${listed.map((each) => each.log).join()} ${log.name}`,
				onchange: (event) => {
					location.hash = toLoop(id, 'transcript', {
						...log.place,
						log: event.target.value,
					});
				},
			},
			listed.map((each) =>
				h('option', {value: each.log, selected: each.log === log.name}, each.title),
			),
		);
	}

	function chooser() {
		const arrow = (title, text, by) =>
			h(
				'button',
				{
					type: 'button',
					'aria-label': title,
					disabled: log.iteration + by < 0,
					onclick: () => moveTo(log.iteration + by),
				},
				text,
			);

		return h(
			'div',
			{class: 'chooser', key: 'chooser'},
			arrow('Previous iteration', '‹', -1),
			h(
				'span',
				{class: 'number'},
				log.iteration ? `iteration ${log.iteration}` : 'baseline',
				log.attempt > 1 && `.${log.attempt}`,
			),
			arrow('Next iteration', '›', 1),
			chooseLog(),
			!latest && h('a', {href: toLoop(id, 'transcript')}, 'latest'),
			h('span', {class: 'dim size'}, bytes(log.size)),
		);
	}

	function empty(live) {
		return h(
			'p',
			{class: 'dim', key: 'none'},
			live && latest ? 'Nothing has been written yet.' : 'This log is empty.',
		);
	}

	addEventListener('scroll', look, {passive: true});
	go(route);
	return {
		go,
		draw() {
			const live = store.loop && store.loop.ticks;

			return [
				h('div', {class: 'toolbar', key: 'toolbar'}, chooser(), searchForm()),
				(log.error || !log.known) && instead(log.error, 'the transcript'),
				log.known && !log.entries.length && empty(live),
				log.known &&
					!log.begin &&
					h('p', {class: 'dim more', key: 'earlier'}, 'There are earlier entries …'),
				embed(node),
				log.end &&
					live &&
					latest &&
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
							{type: 'button', class: 'primary', onclick: toNewest},
							'New entries ↓',
						),
				),
			];
		},
		drawn: reach,
		changed(event) {
			if (event === 'loop' || event === 'journal') follow();
			// Some may have been missed, or were written just before the end.
			if ((event === 'open' || event === 'journal') && log.known && log.end) readLater();
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
				run: () => (log.begin ? scrollTo(0, 0) : open('0.0')),
			},
			{key: 'G', about: 'to the end, and follow', run: toNewest},
			{key: '[', about: 'previous iteration', run: () => moveTo(log.iteration - 1)},
			{key: ']', about: 'next iteration', run: () => moveTo(log.iteration + 1)},
		],
		close: () => removeEventListener('scroll', look),
	};
}
