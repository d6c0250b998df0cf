// The first tab of a loop: what happens now, what a person must do, plots, checks, findings.
import {get, keyed} from './api.js';
import {runAction} from './action.js';
import {h, memo} from './dom.js';
import {icon} from './icon.js';
import {bar, checkResult, findingList, table, toneOfAction} from './parts.js';
import {plot} from './plot.js';
import {toLoop} from './route.js';
import {now, ticking} from './store.js';
import {clock, duration, figure, moment, usd} from './text.js';

const BUCKETS = 100;

const STEPS = {
	new: 'starting',
	ready: 'preparing the next iteration',
	paused: 'paused',
	closing: 'committing the rest',
	finished: 'over',
};

/** Returns what happens now, as [who or what, its own words or null]. */
function present(live) {
	const {now: at} = live;
	const part = at.check_count > 1 ? ` ${at.check_number} of ${at.check_count}` : '';

	if (live.status === 'restarting') return ['restarting the supervisor', null];
	if (at.step === 'waiting') return [`waiting until ${moment(at.until_ms)}`, at.reason];
	if (STEPS[at.step]) return [STEPS[at.step], at.step === 'paused' ? at.reason : null];
	if (at.step === 'mutants')
		return [`trying change ${at.check_number} of ${at.check_count} of the agent's lines`, null];
	if (at.step === 'agent' || at.step === 'review')
		return [
			`${at.step === 'review' ? 'review by ' : ''}${at.agent || 'the agent'}`,
			at.doing || 'at work',
		];
	return at.check ? [`check${part}: ${at.check}`, at.line] : ['looking at the result', null];
}

function nowPart(live, id) {
	const [what, words] = present(live);
	const at = live.now;
	const waits = at.step === 'waiting' && at.until_ms;
	const timeout = live.limits.timeout;
	const used = ticking(timeout.used, live);

	return h(
		'section',
		{class: 'now-part', key: 'now'},
		h('h2', {}, 'Now'),
		h(
			'div',
			{class: 'panel'},
			h(
				'p',
				{class: 'what'},
				h('span', {class: 'beat', 'aria-hidden': 'true'}),
				h('strong', {}, what),
				h(
					'span',
					{class: 'since'},
					waits ? `${clock(at.until_ms - now())} left` : clock(now() - at.since_ms),
				),
			),
			h('p', {class: 'words'}, words ? h('code', {}, words) : '\u00a0'),
			h(
				'p',
				{class: 'small'},
				at.iteration > 0 && [
					h(
						'a',
						{href: toLoop(id, `iterations/${at.iteration}`)},
						`iteration ${at.iteration}`,
					),
					at.attempt > 1 && `, attempt ${at.attempt}`,
					' · ',
				],
				live.transcript &&
					h(
						'a',
						{
							href: toLoop(id, 'transcript', {
								iteration: live.transcript.iteration,
								attempt: live.transcript.attempt,
								log: live.transcript.log,
							}),
						},
						'follow the transcript',
					),
				timeout.total > 0 &&
					h(
						'span',
						{class: 'timeout'},
						` · ${clock(used)} of ${duration(timeout.total)} for this agent `,
						bar(
							Math.min(1000, Math.round((1000 * used) / timeout.total)),
							'time of this agent',
						),
					),
			),
		),
	);
}

// What a person has to decide, with the buttons for it.
function needsPart(data, live) {
	const {info} = data;
	const action = (name) => live.actions.find((each) => each.name === name);
	const button = (name) =>
		action(name) &&
		h(
			'button',
			{type: 'button', class: 'primary', onclick: () => runAction(data.id, action(name))},
			action(name).title,
			' …',
		);

	if (info.blocked)
		return h(
			'section',
			{class: 'needs-part', key: 'needs'},
			h('h2', {class: 'warn'}, icon('alert'), 'The agent is blocked, and needs you'),
			h('blockquote', {}, info.blocked),
			button('answer'),
		);
	if (action('accept'))
		return h(
			'section',
			{class: 'needs-part', key: 'needs'},
			h('h2', {class: 'warn'}, icon('alert'), 'Signs that the changes weaken the checks'),
			h(
				'p',
				{},
				'The checks pass. Look at the findings and the ',
				h('a', {href: toLoop(data.id, 'changes')}, 'changes'),
				', then accept them, or tell the agent what to do instead.',
			),
			button('accept'),
			' ',
			button('tell'),
		);
	if (action('apply') && live.status === 'completed')
		return h(
			'section',
			{class: 'needs-part ready', key: 'needs'},
			h('h2', {class: 'good'}, icon('check'), 'The result is ready'),
			h(
				'p',
				{},
				'Look at the ',
				h('a', {href: toLoop(data.id, 'changes')}, 'changes'),
				', then apply them to your project.',
			),
			button('apply'),
		);
	return null;
}

function average(series, name, i) {
	return (series[name][i] || 0) / Math.max(1, series.attempts[i] || 1);
}

function points(series, values) {
	return series.iteration.map((iteration, i) => ({
		number:
			i > 0 && series.attempts[i] > 1
				? series.iteration[i - 1] + 1
				: iteration - Math.max(0, (series.attempts[i] || 1) - 1),
		until: iteration,
		values: values(i),
	}));
}

function plots(series) {
	const each = (name) => (i) => average(series, name, i);
	const many =
		(...names) =>
		(i) =>
			names.map((name) => each(name)(i));

	return [
		plot({
			title: 'Cost by iteration',
			unit: 'usd',
			series: [{title: 'cost', color: 's0'}],
			points: points(series, (i) => [each('cost_nusd')(i) / 1e9]),
		}),
		plot({
			title: 'Tokens by iteration',
			unit: 'count',
			series: [
				{title: 'in', color: 's3'},
				{title: 'out', color: 's2'},
			],
			points: points(series, many('tokens_in', 'tokens_out')),
		}),
		plot({
			title: 'Time by iteration',
			unit: 'ms',
			series: [
				{title: 'agent', color: 's0'},
				{title: 'checks', color: 's2'},
			],
			points: points(series, many('agent_ms', 'checks_ms')),
		}),
		plot({
			title: 'Tests by iteration',
			unit: 'count',
			series: [
				{title: 'passing', color: 's1'},
				{title: 'failing', color: 's4'},
			],
			points: points(series, (i) => [
				Math.max(0, series.tests_passing[i] || 0),
				Math.max(0, series.tests_failing[i] || 0),
			]),
		}),
	];
}

const CHECK_KINDS = {final: 'final: the agent never sees it', phase: 'ends a phase'};

function checksPart(data) {
	const results = data.latest ? data.latest.checks : [];
	const resultOf = (check) =>
		results.find((result) => result.kind === check.kind && result.index === check.index);

	return (
		data.info.checks.length > 0 &&
		h(
			'section',
			{key: 'checks'},
			h('h2', {}, 'Checks'),
			table(
				'Checks',
				[{title: 'check'}, {title: 'last result'}, {title: 'time', number: true}],
				data.info.checks.map((check) => {
					const result = resultOf(check);

					return [
						[
							h('code', {}, check.command),
							CHECK_KINDS[check.kind] &&
								h('span', {class: 'dim'}, ` ${CHECK_KINDS[check.kind]}`),
						],
						result ? checkResult(result) : h('span', {class: 'dim'}, 'not yet'),
						result && result.duration_ms !== null ? duration(result.duration_ms) : '',
					];
				}),
			),
		)
	);
}

function findingsPart({info}) {
	const parts = [
		['Findings', info.findings],
		['Review', info.review],
		['Lines that no check notices', info.untested],
	];

	return parts.map(
		([title, list]) =>
			Array.isArray(list) &&
			list.length > 0 &&
			h(
				'section',
				{key: title},
				h('h2', {}, title, h('span', {class: 'count'}, figure(list.length))),
				findingList(list),
			),
	);
}

function recentPart(data) {
	const items = (data.recent || []).slice(-6).reverse();

	return (
		items.length > 0 &&
		h(
			'section',
			{key: 'recent'},
			h('h2', {}, 'Last iterations'),
			h(
				'ol',
				{class: 'recent'},
				items.map((item) =>
					h(
						'li',
						{key: `${item.iteration}.${item.attempt}`},
						h(
							'a',
							{
								href: toLoop(data.id, `iterations/${item.iteration}`, {
									attempt: item.attempt,
								}),
							},
							item.iteration ? `${item.iteration}` : 'start',
						),
						h('strong', {class: toneOfAction(item.action)}, item.action),
						h('span', {class: 'text'}, item.reason || item.ended || ''),
						h('span', {class: 'dim n'}, usd(item.cost_nusd)),
					),
				),
			),
		)
	);
}

function wordsPart({info}) {
	return [
		info.final &&
			h(
				'section',
				{key: 'final'},
				h('h2', {}, "The agent's last words"),
				h('blockquote', {}, info.final),
			),
		info.told.length > 0 &&
			h(
				'section',
				{key: 'told'},
				h('h2', {}, 'Messages to the agent'),
				h(
					'ul',
					{class: 'told'},
					info.told.map((message) =>
						h(
							'li',
							{},
							message.text,
							' ',
							h('span', {class: 'dim'}, message.given ? 'read' : 'not read yet'),
						),
					),
				),
			),
		info.objective &&
			h(
				'section',
				{key: 'task'},
				h('h2', {}, 'Task'),
				h('blockquote', {class: 'task'}, info.objective),
			),
	];
}

export function summary(data, route, redraw) {
	const plotsPart = memo('plots');
	let series = null,
		error = null;

	async function read() {
		try {
			series = await get(`/api/loops/${data.id}/series`, {buckets: BUCKETS});
			error = null;
		} catch (failure) {
			error = failure.message;
		}
		redraw();
	}

	read();
	return {
		draw: (live) => [
			live && live.now && live.ticks && nowPart(live, data.id),
			live && needsPart(data, live),
			error && h('p', {class: 'problem'}, error),
			h(
				'section',
				{key: 'progress'},
				h('h2', {}, 'Progress'),
				plotsPart(() => series && plots(series), series),
			),
			h(
				'div',
				{class: 'two', key: 'two'},
				h('div', {}, checksPart(data), findingsPart(data)),
				h('div', {}, recentPart(data)),
			),
			wordsPart(data),
			h(
				'p',
				{class: 'small', key: 'report'},
				h(
					'a',
					{href: keyed(`/api/loops/${encodeURIComponent(data.id)}/report.html`), download: true},
					'Download the report',
				),
				', one page for others',
			),
		],
		changed(event) {
			if (event === 'journal') read();
		},
	};
}
