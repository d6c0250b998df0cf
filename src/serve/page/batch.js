// One work list, with its tasks.
import {get} from './api.js';
import {h} from './dom.js';
import {pill, statusIcon} from './icon.js';
import {step} from './list.js';
import {bar, instead, progress} from './parts.js';
import {toLoop} from './route.js';
import {now, store, watch} from './store.js';
import {clock, duration, figure, usd} from './text.js';

// The status that looks like a step of a task.
const LOOKS = {
	running: 'running',
	held: 'paused',
	verified: 'running',
	landed: 'completed',
	failed: 'failed',
	lost: 'aborted',
};

function timeOf(task) {
	if (!task.begun_ms) return '';
	return task.ended_ms ? duration(task.ended_ms - task.begun_ms) : clock(now() - task.begun_ms);
}

function taskRow(task) {
	const row = task.loop && store.rows.get(task.loop);

	return h(
		'li',
		{key: task.id, class: 'task'},
		h('span', {class: 'task-step'}, statusIcon(LOOKS[task.step] || 'none'), task.step),
		h(
			'span',
			{class: 'task-title'},
			task.loop
				? h('a', {href: toLoop(task.loop)}, task.title || task.id)
				: h('span', {}, task.title || task.id),
			h(
				'span',
				{class: 'under'},
				task.reason
					? h('span', {class: task.step === 'landed' ? 'dim' : 'warn'}, task.reason)
					: row && row.now,
				task.depends &&
					task.depends.length > 0 &&
					h('span', {class: 'dim'}, ` after ${task.depends.join(', ')}`),
			),
		),
		h('span', {class: 'n'}, task.spent_nusd ? usd(task.spent_nusd) : ''),
		h('span', {class: 'n'}, timeOf(task)),
	);
}

export function batch(route, redraw) {
	const id = route.parts[1];
	let told = null,
		error = null,
		seen = null;

	async function read() {
		try {
			told = await get(`/api/batches/${id}`);
			error = null;
		} catch (failure) {
			error = failure;
		}
		redraw();
	}

	function figures(tasks) {
		const landed = tasks.filter((task) => task.step === 'landed').length;
		const box = (name, value, more) =>
			h('div', {}, h('dt', {}, name), h('dd', {}, value, more));
		const permille = told.max_cost_nusd
			? Math.min(1000, Math.round((1000 * told.spent_nusd) / told.max_cost_nusd))
			: 0;

		return h(
			'dl',
			{class: 'figures'},
			box(
				'landed',
				`${figure(landed)} of ${figure(tasks.length)}`,
				progress(
					Math.round((1000 * landed) / Math.max(1, tasks.length)),
					'tasks that landed',
				),
			),
			box('running', figure(tasks.filter((task) => task.step === 'running').length)),
			box('failed', figure(tasks.filter((task) => task.step === 'failed').length)),
			box(
				'cost',
				[
					usd(told.spent_nusd || 0),
					told.max_cost_nusd > 0 &&
						h('span', {class: 'dim'}, ` of ${usd(told.max_cost_nusd)}`),
				],
				told.max_cost_nusd > 0 && bar(permille, 'cost'),
			),
		);
	}

	watch(null);
	read();
	return {
		title: () => `Work list ${id}`,
		draw() {
			if (!told)
				return h('div', {class: 'page', key: 'batch'}, instead(error, 'the work list'));
			return h(
				'div',
				{class: 'page batch', key: 'batch'},
				h('h1', {}, 'Work list'),
				h('p', {class: 'sub'}, h('span', {class: 'path'}, told.project), h('span', {}, id)),
				h(
					'div',
					{class: 'state'},
					pill(told.status),
					told.reason && h('span', {class: 'reason'}, told.reason),
				),
				figures(told.tasks),
				error && instead(error),
				h(
					'section',
					{key: 'tasks'},
					h('h2', {}, 'Tasks', h('span', {class: 'count'}, figure(told.tasks.length))),
					h('ol', {class: 'tasks'}, told.tasks.map(taskRow)),
				),
			);
		},
		// Its row, and those of its loops, tell that it has changed.
		changed(event) {
			const row = store.rows.get(id);
			const state =
				row &&
				JSON.stringify([row.status, row.iteration, row.now, row.needs, row.cost_nusd]);

			if (state !== seen || event === 'open') {
				seen = state;
				read();
			}
		},
		keys: () => [
			{key: 'j', about: 'next task', run: () => step('.tasks a', 1)},
			{key: 'k', about: 'previous task', run: () => step('.tasks a', -1)},
		],
	};
}
