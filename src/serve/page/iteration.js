// One iteration: its decision, checks, findings, denials, and the timeline of its tool calls.
import {get} from './api.js';
import {h, memo} from './dom.js';
import {icon} from './icon.js';
import {checkResult, findingList, instead, table, toneOfAction} from './parts.js';
import {toLoop} from './route.js';
import {bytes, duration, figure, moment, plural, usd} from './text.js';

const TIMELINE = 1000; // entries of the transcript that are read at a time

// [icon, tone] of what stands in the timeline.
const MARKS = {
	started: ['ring', 'dim'],
	call: ['tool', 'dim'],
	changed: ['file', 'live'],
	trouble: ['alert', 'bad'],
	final: ['check', 'good'],
};

/** Returns the steps of a timeline: tool calls with their results, changed files, troubles. */
function stepsOf(entries) {
	const steps = [];

	for (const entry of entries) {
		const last = steps[steps.length - 1];

		if (entry.kind === 'result' && last && last.kind === 'call' && last.ok === undefined)
			last.ok = entry.ok;
		else if (entry.kind === 'call')
			steps.push({
				at: entry.at,
				kind: 'call',
				title: entry.name,
				text: entry.target,
				ok: undefined,
			});
		else if (MARKS[entry.kind])
			steps.push({
				at: entry.at,
				kind: entry.kind,
				title: entry.name || entry.kind,
				text: entry.target || (entry.kind === 'trouble' ? entry.text : null),
				ok: entry.ok,
			});
	}
	return steps;
}

function markOf(of) {
	if (of.kind === 'call' && of.ok !== undefined)
		return of.ok ? ['check', 'good'] : ['cross', 'bad'];
	return MARKS[of.kind];
}

function tokensIn({tokens}) {
	return tokens.input + tokens.read + tokens.write_5m + tokens.write_1h;
}

export function iteration(data, route, redraw) {
	const {id} = data;
	const timelinePart = memo('timeline-part');
	let number, attempt, told, timeline, prompt, error;

	function logLink(log, words, more = {}) {
		return h(
			'a',
			{href: toLoop(id, 'transcript', {iteration: number, attempt, log, ...more})},
			words,
		);
	}

	async function read() {
		const wanted = `${number}.${attempt}`;

		try {
			const answer = await get(`/api/loops/${id}/iterations/${number}`, {attempt});

			if (wanted === `${number}.${attempt}`) [told, error] = [answer, null];
		} catch (failure) {
			error = failure;
		}
		redraw();
		if (!error && number > 0) readTimeline();
	}

	// Reads on from the last entry that is known.
	async function readTimeline() {
		const last = timeline && timeline.entries[timeline.entries.length - 1];

		try {
			const window = await get(`/api/loops/${id}/transcript`, {
				iteration: number,
				attempt,
				from: last ? last.at : '0.0',
				limit: TIMELINE,
			});

			timeline = {
				entries: [...(timeline ? timeline.entries.slice(0, -1) : []), ...window.entries],
				end: window.end,
			};
		} catch {
			timeline = timeline || {entries: [], end: true};
		}
		redraw();
	}

	async function readPrompt() {
		prompt = {text: 'Reading the prompt …'};
		redraw();
		try {
			prompt = await get(`/api/loops/${id}/prompt`, {iteration: number, attempt});
		} catch (failure) {
			prompt = {text: failure.message};
		}
		redraw();
	}

	function go(to) {
		number = Number(to.parts[3]) || 0;
		attempt = to.query.get('attempt');
		told = timeline = prompt = error = null;
		read();
	}

	function move(by) {
		if (number + by >= 0) location.hash = toLoop(id, `iterations/${number + by}`);
	}

	function facts(item) {
		const pair = (name, value) => value && [h('dt', {}, name), h('dd', {}, value)];

		return h(
			'dl',
			{class: 'facts'},
			pair('decision', [
				h('strong', {class: toneOfAction(item.action)}, item.action),
				item.reason && ` ${item.reason}`,
			]),
			pair('agent', [
				item.agent,
				item.phase && `, phase ${item.phase}`,
				item.ended && h('span', {class: 'bad'}, ` ${item.ended}`),
			]),
			pair('began', moment(item.began_ms)),
			pair(
				'time',
				item.ended_ms
					? `${duration(item.ended_ms - item.began_ms)}: agent ${duration(item.agent_ms || 0)}, checks ${duration(item.checks_ms || 0)}`
					: 'still running',
			),
			pair(
				'cost',
				`${usd(item.cost_nusd)}, ${plural(item.requests || 0, 'request')}, ${figure(tokensIn(item))} tokens in, ${figure(item.tokens.output)} out`,
			),
			pair(
				'models',
				(item.models || []).length > 0 &&
					item.models.map((use) => `${use.model} (${figure(use.requests)})`).join(', '),
			),
			pair(
				'files changed',
				item.files_changed >= 0 &&
					item.files_changed !== null &&
					figure(item.files_changed),
			),
		);
	}

	function timelineContent() {
		const steps = timeline ? stepsOf(timeline.entries) : [];

		return (
			number > 0 &&
			h(
				'section',
				{},
				h(
					'h2',
					{},
					'Timeline',
					steps.length > 0 && h('span', {class: 'count'}, figure(steps.length)),
				),
				!timeline && instead(null, 'the transcript'),
				timeline &&
					!steps.length &&
					h('p', {class: 'dim'}, 'The transcript tells of no tool calls.'),
				steps.length > 0 &&
					h(
						'ol',
						{class: 'timeline'},
						steps.map((of) => {
							const [name, tone] = markOf(of);

							return h(
								'li',
								{key: of.at},
								h('span', {class: `mark ${tone}`}, icon(name)),
								h(
									'a',
									{
										href: toLoop(id, 'transcript', {
											iteration: number,
											attempt,
											at: of.at,
										}),
									},
									of.title || of.kind,
								),
								of.text && h('code', {}, of.text),
								of.kind === 'call' &&
									of.ok === false &&
									h('span', {class: 'bad'}, 'failed'),
							);
						}),
					),
				timeline &&
					!timeline.end &&
					h('button', {type: 'button', onclick: readTimeline}, 'Read on'),
			)
		);
	}

	function promptPart() {
		return (
			told.prompt &&
			h(
				'section',
				{key: 'prompt'},
				h(
					'details',
					{
						ontoggle: (event) => {
							if (event.target.open && !prompt) readPrompt();
						},
					},
					h('summary', {}, `Prompt, ${bytes(told.prompt.size)}`),
					prompt &&
						h(
							'pre',
							{class: 'log', tabindex: 0},
							prompt.text,
							prompt.cut && '\n… (the rest is not shown)',
						),
				),
			)
		);
	}

	function denialsPart() {
		return (
			told.denials.length > 0 &&
			h(
				'section',
				{key: 'denials'},
				h('h2', {}, 'Denials', h('span', {class: 'count'}, figure(told.denials.length))),
				table(
					'Denials',
					[
						{title: 'denied'},
						{title: 'in'},
						{title: 'rule'},
						{title: 'times', number: true},
					],
					told.denials.map((denial) => [
						h('code', {}, denial.text),
						denial.run,
						denial.rule,
						figure(denial.count),
					]),
				),
			)
		);
	}

	go(route);
	return {
		go,
		draw() {
			const heading = h(
				'div',
				{class: 'steps'},
				h(
					'h2',
					{},
					number ? `Iteration ${number}` : 'Before the first iteration',
					told && told.item.attempt > 1 && `, attempt ${told.item.attempt}`,
				),
				h(
					'span',
					{class: 'pager'},
					number > 0 &&
						h('a', {href: toLoop(id, `iterations/${number - 1}`)}, '← previous'),
					h('a', {href: toLoop(id, `iterations/${number + 1}`)}, 'next →'),
				),
			);

			if (!told) return [heading, instead(error, 'the iteration')];
			return [
				heading,
				facts(told.item),
				told.checks.length > 0 &&
					h(
						'section',
						{key: 'checks'},
						h('h2', {}, 'Checks'),
						table(
							'Checks',
							[{title: 'check'}, {title: 'result'}, {title: 'time', number: true}],
							told.checks.map((check) => [
								h('code', {}, check.command),
								checkResult(check),
								check.duration_ms === null || check.duration_ms === undefined
									? ''
									: duration(check.duration_ms),
							]),
						),
					),
				told.findings.length > 0 &&
					h(
						'section',
						{key: 'findings'},
						h('h2', {}, 'Findings'),
						findingList(told.findings),
					),
				timelinePart(timelineContent, timeline),
				denialsPart(),
				told.logs.length > 0 &&
					h(
						'section',
						{key: 'logs'},
						h('h2', {}, 'Logs'),
						h(
							'ul',
							{class: 'plain-list'},
							told.logs.map((log) =>
								h(
									'li',
									{},
									logLink(log.log, log.title),
									h('span', {class: 'dim'}, ` ${bytes(log.size)}`),
								),
							),
						),
					),
				promptPart(),
			];
		},
		changed(event) {
			if (event === 'journal') read();
		},
		keys: () => [
			{key: '[', about: 'previous iteration', run: () => move(-1)},
			{key: ']', about: 'next iteration', run: () => move(1)},
		],
	};
}
