// Small parts that several views show.
import {h} from './dom.js';
import {icon, outcome} from './icon.js';
import {bytes, figure} from './text.js';

/** Returns a bar of how much of a limit is used. */
export function bar(permille, label) {
	return gauge(permille, label, permille >= 1000 ? 'full' : permille >= 850 ? 'high' : '');
}

/** Returns a bar of how much is done: all of it is good. */
export function progress(permille, label) {
	return gauge(permille, label, permille >= 1000 ? 'all' : '');
}

function gauge(permille, label, level) {
	return h('progress', {
		class: `bar ${level}`,
		max: 1000,
		value: permille,
		'aria-label': label,
		title: label,
	});
}

/** Returns a table that scrolls by itself on a narrow screen. columns: [{title, number}] */
export function table(label, columns, rows) {
	return h(
		'div',
		{class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label},
		h(
			'table',
			{},
			h(
				'thead',
				{},
				h(
					'tr',
					{},
					columns.map(({title, number}) => h('th', {class: number && 'n'}, title)),
				),
			),
			h(
				'tbody',
				{},
				rows.map((cells) =>
					h(
						'tr',
						{},
						cells.map((cell, i) => h('td', {class: columns[i].number && 'n'}, cell)),
					),
				),
			),
		),
	);
}

/** Returns the lines that a change adds and removes. */
export function lines(change) {
	return change.binary
		? h('span', {class: 'dim'}, `binary, ${bytes(change.bytes || 0)}`)
		: h(
				'span',
				{class: 'lines'},
				h('span', {class: 'good'}, `+${figure(change.added || 0)}`),
				' ',
				h('span', {class: 'bad'}, `−${figure(change.removed || 0)}`),
			);
}

/** Returns how a check ended, with its tests. */
export function checkResult(check) {
	const tests = check.tests_passed !== null && check.tests_passed >= 0;

	return [
		outcome(
			check.passed,
			check.passed ? 'passed' : check.code === 0 ? 'ran nothing' : `exit ${check.code}`,
		),
		tests &&
			h(
				'span',
				{class: 'dim'},
				` ${figure(check.tests_passed)} passed`,
				check.tests_failed > 0 && `, ${figure(check.tests_failed)} failed`,
			),
	];
}

/** Returns a list of findings: signs that the changes weaken the checks, or those of a reviewer. */
export function findingList(findings) {
	const stops = new Set(['stop', 'blocking']);

	return h(
		'ul',
		{class: 'findings'},
		findings.map((finding) => {
			const word = finding.action || finding.severity || 'untested';
			const path = finding.path || finding.file;

			return h(
				'li',
				{},
				h('span', {class: stops.has(word) ? 'bad' : 'warn'}, icon('alert'), word),
				' ',
				path && h('code', {}, finding.line ? `${path}:${finding.line}` : path),
				` ${finding.says || finding.text || ''} `,
				finding.evidence && h('code', {class: 'dim'}, finding.evidence),
			);
		}),
	);
}

const TONES = {done: 'good', running: 'live', interrupted: 'warn', pause: 'warn', wait: 'warn'};

/** Returns the tone of a decision. */
export function toneOfAction(action) {
	return TONES[action] || null;
}

/** Returns what stands in place of a view's content while it is read, or why it was not. */
export function instead(error, what) {
	return error
		? h('p', {class: 'problem', role: 'alert', key: 'error'}, icon('alert'), error.message)
		: h('p', {class: 'dim', key: 'reading'}, `Reading ${what} …`);
}
