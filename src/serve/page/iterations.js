// All iterations of a loop, newest first. Of many, only pages near the screen are read.
import {get} from './api.js';
import {h} from './dom.js';
import {List, step} from './list.js';
import {instead, toneOfAction} from './parts.js';
import {toLoop} from './route.js';
import {now} from './store.js';
import {clock, duration, figure, moment, plural, usd} from './text.js';

const PAGE = 200; // iterations that are read at a time
const KEEP = 12; // pages

const COLUMNS = [
	{title: '#', name: 'c-number'},
	{title: 'decision', name: 'c-decision'},
	{title: 'checks', name: 'c-checks'},
	{title: 'tests', name: 'c-tests'},
	{title: 'tools', name: 'c-tools'},
	{title: 'files', name: 'c-files'},
	{title: 'cost', name: 'c-cost'},
	{title: 'time', name: 'c-time'},
	{title: 'began', name: 'c-began'},
];

function known(number) {
	return number !== null && number !== undefined && number >= 0;
}

function tokensOf(item) {
	return Object.values(item.tokens || {}).reduce((sum, count) => sum + (count || 0), 0);
}

function cells(id, item, live) {
	const passing = item.checks.filter((check) => check.passed).length;
	const running = item.action === 'running';

	return [
		h(
			'a',
			{
				class: 'stretch',
				href: toLoop(id, `iterations/${item.iteration}`, {attempt: item.attempt}),
			},
			item.iteration ? figure(item.iteration) : 'start',
			item.attempt > 1 && h('span', {class: 'dim'}, `.${item.attempt}`),
		),
		[
			h('strong', {class: toneOfAction(item.action)}, item.action),
			' ',
			h('span', {class: 'dim'}, item.reason || item.ended || ''),
		],
		item.checks.length > 0 &&
			h(
				'span',
				{class: passing === item.checks.length ? 'good' : 'bad'},
				`${passing} of ${item.checks.length}`,
			),
		known(item.tests_passing) && [
			figure(item.tests_passing),
			item.tests_failing > 0 && h('span', {class: 'bad'}, ` −${figure(item.tests_failing)}`),
		],
		known(item.tool_calls) && [
			figure(item.tool_calls),
			item.denials > 0 && h('span', {class: 'warn'}, `, ${plural(item.denials, 'denial')}`),
		],
		known(item.files_changed) && figure(item.files_changed),
		h('span', {title: `${figure(tokensOf(item))} tokens`}, usd(item.cost_nusd)),
		item.ended_ms
			? duration(item.ended_ms - item.began_ms)
			: running && live && live.ticks
				? clock(now() - item.began_ms)
				: '',
		moment(item.began_ms),
	];
}

export function iterations(data, route, redraw) {
	const {id} = data;
	const pages = new Map(); // by number; a page that is being read is a list without entries
	let count = data.count || 0;
	let told = null,
		error = null,
		live = null;
	let grown = 0; // rows that were added above since the last drawing

	const list = new List({label: 'Iterations', className: 'iterations', columns: COLUMNS, row});

	function row(i) {
		const index = count - 1 - i;
		const page = pages.get(Math.floor(index / PAGE));
		const item = page && page.items[index % PAGE];

		if (!page) read(Math.floor(index / PAGE));
		return {
			key: `attempt ${index}`,
			cells: item ? cells(id, item, live) : [h('span', {class: 'dim'}, '…')],
		};
	}

	function forgetFar(page) {
		for (const number of [...pages.keys()]
			.sort((a, b) => Math.abs(b - page) - Math.abs(a - page))
			.slice(0, Math.max(0, pages.size - KEEP)))
			pages.delete(number);
	}

	async function read(page) {
		pages.set(page, pages.get(page) || {items: []});
		try {
			told = await get(`/api/loops/${id}/iterations`, {from: page * PAGE, limit: PAGE});
			grown += Math.max(0, told.count - count);
			count = told.count;
			pages.set(page, told);
			forgetFar(page);
			error = null;
		} catch (failure) {
			pages.delete(page);
			error = failure;
		}
		redraw();
	}

	// New entries are at the end, and only the last ones change.
	function readLast() {
		for (const number of pages.keys())
			if (number > Math.floor((count - 2) / PAGE)) pages.delete(number);
		read(Math.floor(Math.max(0, count - 1) / PAGE)).then(() => {
			const last = Math.floor((count - 1) / PAGE);

			if (count && !pages.has(last)) read(last);
		});
	}

	readLast();
	return {
		draw(event) {
			live = event;
			if (!told) return instead(error, 'the iterations');
			return h(
				'section',
				{key: 'iterations'},
				h('h2', {}, 'Iterations', h('span', {class: 'count'}, figure(count))),
				told.dropped > 0 &&
					h(
						'p',
						{class: 'dim'},
						`${figure(told.dropped)} older attempts are not listed.`,
					),
				told.trouble && h('p', {class: 'warn'}, told.trouble),
				error && instead(error),
				count ? list.element() : h('p', {class: 'dim'}, 'No iteration has begun yet.'),
			);
		},
		// Rows that are read stay where they are on the screen.
		drawn() {
			const scrolled = list.body.getBoundingClientRect().top < 0;

			list.draw(count);
			if (grown && scrolled) scrollBy(0, grown * list.height);
			grown = 0;
		},
		changed(event) {
			if (event === 'journal') readLast();
		},
		keys: () => [
			{key: 'j', about: 'next iteration', run: () => step('.iterations .list-body a', 1)},
			{
				key: 'k',
				about: 'previous iteration',
				run: () => step('.iterations .list-body a', -1),
			},
			{key: 'g', about: 'newest', run: () => scrollTo(0, 0)},
			{key: 'G', about: 'oldest', run: () => scrollTo(0, document.body.scrollHeight)},
		],
		close: () => list.close(),
	};
}
