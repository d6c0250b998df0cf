// One loop: its head with the actions, and a tab below it. Each tab is an object with draw(), and
// may have go(), changed(), keys(), drawn() and close(), as a view has (see app.js).
import {actionButtons} from './action.js';
import {get} from './api.js';
import {changes} from './changes.js';
import {h} from './dom.js';
import {icon, pill} from './icon.js';
import {iteration} from './iteration.js';
import {iterations} from './iterations.js';
import {bar} from './parts.js';
import {toBatch, toLoop} from './route.js';
import {now, store, ticking, watch} from './store.js';
import {summary} from './summary.js';
import {age, clock, duration, figure, moment, usd} from './text.js';
import {transcript} from './transcript.js';
import {work} from './work.js';

const TABS = [
	{name: '', title: 'Summary', make: summary, key: '1'},
	{name: 'iterations', title: 'Iterations', make: iterations, key: '2'},
	{name: 'transcript', title: 'Transcript', make: transcript, key: '3'},
	{name: 'changes', title: 'Changes', make: changes, key: '4'},
	{name: 'work', title: 'Tools and hosts', make: work, key: '5'},
];

function tabOf(route) {
	const name = route.parts[2] || '';

	if (name === 'iterations' && route.parts[3]) return {name: 'iterations', make: iteration};
	return TABS.find((tab) => tab.name === name) || TABS[0];
}

function limitBox(name, value, limit, total) {
	return h(
		'div',
		{},
		h('dt', {}, name),
		h(
			'dd',
			{},
			value,
			limit.total > 0 && [
				h('span', {class: 'dim'}, ` of ${total}`),
				bar(limit.permille, `${name}: ${Math.round(limit.permille / 10)} % of the limit`),
			],
		),
	);
}

function limitBoxes(live) {
	const {limits} = live;
	const spent = ticking(limits.time.used, live);
	const time = {
		...limits.time,
		permille: limits.time.total
			? Math.min(1000, Math.round((1000 * spent) / limits.time.total))
			: 0,
	};

	return [
		limitBox(
			'iterations',
			figure(limits.iterations.used),
			limits.iterations,
			figure(limits.iterations.total),
		),
		limitBox(
			'time',
			live.ticks ? clock(spent) : duration(spent),
			time,
			duration(limits.time.total),
		),
		limitBox(
			limits.estimated_nusd ? 'cost, partly estimated' : 'cost',
			usd(limits.cost_nusd),
			limits.cost,
			usd(limits.cost.total),
		),
	];
}

function lastKnown(item, name) {
	return item && item[name] !== null && item[name] !== undefined && item[name] >= 0;
}

// Figures of the last attempt, beside the limits.
function latestBoxes(latest) {
	const checks = latest && latest.checks.length;
	const passing = latest && latest.checks.filter((check) => check.passed).length;
	const box = (name, value, tone, more) =>
		h(
			'div',
			{},
			h('dt', {}, name),
			h('dd', {class: tone}, value, more && h('span', {class: 'bad'}, more)),
		);

	return [
		box(
			'checks passing',
			checks ? `${passing} of ${checks}` : '–',
			checks ? (passing === checks ? 'good' : 'bad') : null,
		),
		box(
			'tests passing',
			lastKnown(latest, 'tests_passing') ? figure(latest.tests_passing) : '–',
			null,
			lastKnown(latest, 'tests_failing') && latest.tests_failing > 0
				? ` ${figure(latest.tests_failing)} fail`
				: null,
		),
		box(
			'files changed',
			lastKnown(latest, 'files_changed') ? figure(latest.files_changed) : '–',
		),
	];
}

function titleOf(data, row, id) {
	const text = data.info ? data.info.objective : row && row.title;

	return (text || id).split('\n')[0];
}

// The last attempt of which checks are known.
function latestOf(items) {
	return (
		items
			.slice()
			.reverse()
			.find((item) => item.checks.length) || null
	);
}

export function loop(route, redraw) {
	const id = route.parts[1];
	const data = {id, info: null, latest: null, error: null};
	let tab = null,
		tabRoute = null;
	let journal = null; // the last entry of the journal that was read
	let reading = false,
		again = false;

	// Reads the loop, and once more if it has changed meanwhile.
	async function read() {
		if (reading) {
			again = true;
			return;
		}
		reading = true;
		do {
			again = false;
			try {
				const [info, last] = await Promise.all([
					get(`/api/loops/${id}`),
					get(`/api/loops/${id}/iterations`, {limit: 20}),
				]);

				Object.assign(data, {
					info,
					recent: last.items,
					count: last.count,
					latest: latestOf(last.items),
					error: null,
				});
			} catch (error) {
				data.error = error;
			}
		} while (again);
		reading = false;
		if (tab && tab.changed) tab.changed('journal');
		redraw();
	}

	function openTab(to) {
		const found = tabOf(to);

		if (tabRoute && tabRoute.make === found.make && tab.go) {
			tab.go(to);
		} else {
			if (tab && tab.close) tab.close();
			tab = found.make(data, to, redraw);
		}
		tabRoute = found;
	}

	function head(live, row) {
		const about = data.info && data.info.loop;
		const blocked = data.info && data.info.blocked; // the tab has all of it
		const reason =
			live &&
			!blocked &&
			(live.reason || (live.status === 'paused' && live.now && live.now.reason));

		return h(
			'div',
			{class: 'loop-head', key: 'head'},
			h('h1', {}, titleOf(data, row, id)),
			h(
				'p',
				{class: 'sub'},
				about && [h('span', {class: 'path'}, about.project), h('span', {}, about.agent)],
				h('span', {}, about && about.name ? `${about.name} · ${id}` : id),
				row &&
					h(
						'span',
						{title: moment(row.created_ms)},
						`began ${age(now() - row.created_ms)}`,
					),
				row && row.batch && h('a', {href: toBatch(row.batch)}, 'its work list'),
			),
			h(
				'div',
				{class: 'state'},
				live ? pill(live.damaged ? 'damaged' : live.status) : pill('starting', 'reading …'),
				live &&
					live.now &&
					live.now.wish &&
					h(
						'span',
						{class: 'warn'},
						live.now.wish === 'pause' ? 'pausing after this iteration' : 'aborting',
					),
				reason && h('span', {class: 'reason'}, reason),
				live && actionButtons(id, live.actions),
			),
		);
	}

	function tabs() {
		return h(
			'nav',
			{class: 'tabs', 'aria-label': 'Parts of the loop', key: 'tabs'},
			TABS.map(({name, title}) =>
				h(
					'a',
					{
						href: toLoop(id, name),
						'aria-current': tabRoute.name === name ? 'page' : null,
					},
					title,
				),
			),
		);
	}

	function parts() {
		return [
			data.error &&
				h('p', {class: 'problem', role: 'alert'}, icon('alert'), data.error.message),
			tabs(),
			h(
				'div',
				{class: 'tab', key: `tab ${tabRoute.make.name}`},
				data.info && tab.draw(store.loop),
			),
		];
	}

	function missing(message) {
		return h(
			'section',
			{class: 'empty'},
			h('h1', {}, message),
			h('p', {}, h('a', {href: '#/'}, 'All loops')),
		);
	}

	watch(id);
	openTab(route);
	read();

	return {
		title: () => titleOf(data, store.rows.get(id), id),
		go: openTab,
		draw() {
			const live = store.loop;

			if (store.gone || (data.error && data.error.status === 'not-found'))
				return missing(data.info ? 'This loop was removed' : 'There is no such loop');
			return h(
				'div',
				{class: 'page loop', key: `loop ${id}`, 'data-tab': tabRoute.name},
				head(live, store.rows.get(id)),
				live &&
					live.limits &&
					h(
						'dl',
						{class: 'figures', key: 'figures'},
						limitBoxes(live),
						latestBoxes(data.latest),
					),
				!(live && live.damaged) && parts(),
			);
		},
		changed(event) {
			const live = store.loop;

			if (
				(live && live.journal !== journal && event === 'loop') ||
				(event === 'open' && (data.info || data.error))
			) {
				journal = live && live.journal;
				read();
			}
			if (tab && tab.changed) tab.changed(event);
		},
		drawn() {
			if (data.info && tab.drawn) tab.drawn();
		},
		keys: () => [
			...(tab && tab.keys ? tab.keys() : []),
			...TABS.map(({name, title, key}) => ({
				key,
				about: title,
				run: () => {
					location.hash = toLoop(id, name);
				},
			})),
		],
		close() {
			if (tab && tab.close) tab.close();
		},
	};
}
