// All loops and work lists: is all well, what happens now, what must I do?
import {h} from './dom.js';
import {icon, statusIcon, toneOf} from './icon.js';
import {List, step} from './list.js';
import {bar, progress} from './parts.js';
import {toBatch, toLoop, toOverview} from './route.js';
import {now, store, ticking, watch} from './store.js';
import {age, clock, duration, figure, plural, usd} from './text.js';

const DAY_MS = 86400000;
const LIVE = new Set(['starting', 'running', 'waiting', 'restarting']);

function addressOf(row) {
	return row.kind === 'batch' ? toBatch(row.id) : toLoop(row.id);
}

function costOf(row) {
	return row.max_cost_nusd
		? `${usd(row.cost_nusd)} of ${usd(row.max_cost_nusd)}`
		: usd(row.cost_nusd);
}

function progressOf(row) {
	if (row.kind === 'batch')
		return `${figure(row.iteration)} of ${plural(row.iterations, 'task')}`;
	return row.iterations
		? `iteration ${row.iteration} of ${row.iterations}`
		: `iteration ${row.iteration}`;
}

function shortPath(path) {
	return path ? path.split('/').slice(-2).join('/') : '';
}

/** The time of a work list that does not run is not known. */
function timeOf(row) {
	if (!row.ended && row.ticks) return clock(ticking(row.elapsed_ms, row));
	return row.kind === 'batch' ? '' : duration(row.elapsed_ms);
}

function cells(row) {
	const title =
		row.kind === 'batch'
			? `Work list of ${shortPath(row.project)}`
			: row.title || row.name || row.id;
	const text = row.needs || row.now || '';
	const permille = row.iterations
		? Math.min(1000, Math.round((1000 * row.iteration) / row.iterations))
		: 0;

	return [
		[
			statusIcon(row.status),
			h('span', {class: `status-word ${toneOf(row.status)}`}, row.status),
		],
		[
			h(
				'a',
				{class: 'stretch', href: addressOf(row)},
				row.kind === 'batch' && icon('list'),
				title,
			),
			h(
				'span',
				{class: 'under'},
				h(
					'span',
					{class: 'where'},
					row.name ? `${row.name} · ` : '',
					shortPath(row.project),
				),
				h(
					'span',
					{class: row.needs ? 'warn' : 'now'},
					row.kind === 'batch' ? `${row.title}${text ? ` · ${text}` : ''}` : text,
				),
			),
		],
		[
			h('span', {class: 'over'}, progressOf(row)),
			row.iterations > 0 &&
				(row.kind === 'batch' ? progress : bar)(permille, progressOf(row)),
		],
		costOf(row),
		[
			timeOf(row),
			h('span', {class: 'under'}, age(now() - row.changed_ms)),
		],
	];
}

const COLUMNS = [
	{title: 'status', name: 'c-status'},
	{title: 'loop', name: 'c-title'},
	{title: 'progress', name: 'c-progress'},
	{title: 'cost', name: 'c-cost'},
	{title: 'time', name: 'c-time'},
];

// One of the lists of the page.
class Part {
	constructor(title, about) {
		this.title = title;
		this.about = about;
		this.rows = [];
		this.list = new List({
			label: title,
			className: 'loops',
			columns: COLUMNS,
			row: (i) => ({
				key: this.rows[i].id,
				cells: cells(this.rows[i]),
				className: this.rows[i].needs ? 'needs' : null,
			}),
		});
	}

	draw(rows) {
		this.rows = rows;
		return (
			rows.length > 0 &&
			h(
				'section',
				{key: this.title},
				h('h2', {}, this.title, h('span', {class: 'count'}, figure(rows.length))),
				this.list.element(),
			)
		);
	}
}

function matches(row, words) {
	const text = [row.id, row.name, row.title, row.project, row.status, row.needs, row.now]
		.join(' ')
		.toLowerCase();

	return words.every((word) => text.includes(word));
}

// [tone, icon, sentence]: the answer at one glance.
function verdict(rows) {
	const needs = rows.filter((row) => row.needs).length;
	const live = rows.filter((row) => LIVE.has(row.status) && !row.batch).length;
	const failed = rows.some((row) => row.needs && row.status === 'failed');

	if (needs)
		return [
			failed ? 'bad' : 'warn',
			'alert',
			needs === 1 ? 'One thing needs you' : `${figure(needs)} things need you`,
		];
	if (live) return ['good', 'check', 'All is well'];
	return ['dim', 'ring', rows.length ? 'Nothing is running' : 'No loops yet'];
}

function figures(rows) {
	const recent = rows.filter((row) => !row.batch && row.changed_ms > now() - DAY_MS);
	const sum = recent.reduce((cost, row) => cost + row.cost_nusd, 0);
	const ended = (status) => recent.filter((row) => row.status === status).length;
	const stopped = ended('failed') + ended('limit');
	const box = (name, value, tone) =>
		h('div', {}, h('dt', {}, name), h('dd', {class: tone}, value));

	return h(
		'dl',
		{class: 'figures'},
		box(
			'at work',
			figure(rows.filter((row) => LIVE.has(row.status) && row.kind === 'loop').length),
		),
		box(
			'need you',
			figure(rows.filter((row) => row.needs).length),
			rows.some((row) => row.needs) && 'warn',
		),
		box('completed in 24 h', figure(ended('completed'))),
		box('failed or at a limit in 24 h', figure(stopped), stopped > 0 && 'bad'),
		box('cost of loops in 24 h', usd(sum)),
	);
}

function empty() {
	return h(
		'section',
		{class: 'empty'},
		h('p', {}, 'Loops appear here as soon as they are started:'),
		h(
			'pre',
			{tabindex: 0},
			'ringfence run "Fix the failing tests" --check "npm test" --agent claude',
		),
	);
}

export function overview(route, redraw) {
	const parts = {
		needs: new Part('Needs you'),
		live: new Part('At work'),
		rest: new Part('Stopped and ended'),
	};
	const filter = {text: route.query.get('q') || ''};
	let order = []; // the rows as they are shown

	watch(null);

	function shownRows() {
		const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
		const all = [...store.rows.values()].sort((a, b) => b.created_ms - a.created_ms);

		// A work list stands for its loops, unless one of them is looked for or needs a person.
		return words.length
			? all.filter((row) => matches(row, words))
			: all.filter((row) => !row.batch || row.needs || !store.rows.has(row.batch));
	}

	function search() {
		return h('input', {
			type: 'search',
			id: 'filter',
			key: 'filter',
			placeholder: 'Filter: project, task, status',
			'aria-label': 'Filter the loops',
			value: filter.text,
			oninput: (event) => {
				filter.text = event.target.value;
				history.replaceState(null, '', toOverview(filter.text));
				redraw();
			},
		});
	}

	return {
		title: () => {
			const needs = [...store.rows.values()].filter((row) => row.needs).length;

			return needs ? `(${needs}) Overview` : 'Overview';
		},
		draw() {
			const rows = [...store.rows.values()];
			const some = shownRows();
			const [tone, name, sentence] = store.ready
				? verdict(rows)
				: ['dim', 'ring', 'Reading the loops …'];

			order = [
				some.filter((row) => row.needs),
				some.filter((row) => !row.needs && LIVE.has(row.status)),
				some.filter((row) => !row.needs && !LIVE.has(row.status)),
			];
			return h(
				'div',
				{class: 'page overview', key: 'overview'},
				h(
					'div',
					{class: 'headline'},
					h('h1', {class: tone}, icon(name), sentence),
					rows.length > 0 && search(),
				),
				figures(rows),
				store.ready && !rows.length && empty(),
				store.ready &&
					rows.length > 0 &&
					!some.length &&
					h('p', {class: 'dim'}, 'No loop matches the filter.'),
				parts.needs.draw(order[0]),
				parts.live.draw(order[1]),
				parts.rest.draw(order[2]),
			);
		},
		drawn() {
			Object.values(parts).forEach((part) => part.list.draw(part.rows.length));
		},
		keys: () => [
			{
				key: '/',
				about: 'filter',
				run: () => {
					const box = document.getElementById('filter');
					if (box) box.focus();
				},
			},
			{key: 'j', about: 'next loop', run: () => step('.loops .list-body a', 1)},
			{key: 'k', about: 'previous loop', run: () => step('.loops .list-body a', -1)},
			{key: 'g', about: 'to the top', run: () => scrollTo(0, 0)},
			{key: 'G', about: 'to the end', run: () => scrollTo(0, document.body.scrollHeight)},
		],
		close() {
			Object.values(parts).forEach((part) => part.list.close());
		},
	};
}
