// The entries of a transcript. Long and secondary texts are folded; a folded text is not on the page.
import {h} from './dom.js';
import {icon} from './icon.js';
import {bytes} from './text.js';

const CLIP = 6000; // characters of a message that are shown at first
const SENT = 16384; // bytes of a text that the server sends
const TITLE = 200; // characters in the line of a folded entry

// Removes colours and other escape sequences, of which the logs of checks are full.
function plain(text) {
	return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '');
}

// Returns the text with the matches of a term marked. Small and capital ASCII letters are the same.
function marked(text, term) {
	const parts = [];
	const low = text.toLowerCase(),
		wanted = term.toLowerCase();
	let from = 0;

	// Other letters can change their length in lower case; then nothing is marked.
	for (
		let at;
		term && low.length === text.length && (at = low.indexOf(wanted, from)) >= 0;
		from = at + term.length
	)
		parts.push(text.slice(from, at), h('mark', {}, text.slice(at, at + term.length)));
	return [...parts, text.slice(from)];
}

function firstLine(text) {
	const line = plain(text).trim().split('\n')[0];

	return line.length > TITLE ? `${line.slice(0, TITLE)} …` : line;
}

function lastLine(text) {
	return firstLine(plain(text).trim().split('\n').pop());
}

function cutNote(entry) {
	return (
		entry.size > SENT &&
		h('p', {class: 'dim small'}, `${bytes(entry.size)} in the log; only a part is shown.`)
	);
}

// A text that is shown at once, without the rest of a long one.
function prose(entry, look, className) {
	const text = plain(entry.text || '');
	const long = text.length > CLIP && !look.opened.has(entry.at);

	return [
		h('div', {class: className}, marked(long ? text.slice(0, CLIP) : text, look.term)),
		long &&
			h(
				'button',
				{type: 'button', class: 'plain', onclick: () => look.toggle(entry.at, true)},
				`Show all (${bytes(entry.size)})`,
			),
		cutNote(entry),
	];
}

function fold(key, look, summary, content) {
	return h(
		'details',
		{
			open: look.opened.has(key),
			ontoggle: (event) => look.toggle(key, event.target.open),
		},
		h('summary', {}, summary),
		look.opened.has(key) && content(),
	);
}

function block(entry, look, kind, ...children) {
	const isHit = look.hit === entry.at || (entry.result && look.hit === entry.result.at);

	return h('div', {class: `entry ${kind} ${isHit ? 'hit' : ''}`, key: entry.at}, children);
}

function resultText(result, look) {
	return (
		result &&
		h(
			'div',
			{},
			h(
				'pre',
				{class: 'log', tabindex: 0, 'aria-label': 'Output'},
				marked(plain(result.text || '(no output)'), look.term),
			),
			cutNote(result),
		)
	);
}

function callBlock(entry, look) {
	const {result} = entry;
	const tone = !result ? 'dim' : result.ok ? 'good' : 'bad';

	return block(
		entry,
		look,
		'call',
		fold(
			entry.at,
			look,
			[
				h(
					'span',
					{class: `mark ${tone}`},
					icon(!result ? 'tool' : result.ok ? 'check' : 'cross'),
				),
				h('strong', {}, marked(entry.name || 'tool', look.term)),
				' ',
				h('code', {}, marked(firstLine(entry.target || ''), look.term)),
				result &&
					!result.ok &&
					h('span', {class: 'bad small'}, `failed: ${lastLine(result.text || '')}`),
				result && result.ok && h('span', {class: 'dim small'}, bytes(result.size)),
			],
			() => [
				entry.target &&
					h(
						'pre',
						{class: 'log target', tabindex: 0, 'aria-label': 'Command'},
						marked(entry.target, look.term),
					),
				result
					? resultText(result, look)
					: h('p', {class: 'dim small'}, 'There is no result yet.'),
			],
		),
	);
}

const BLOCKS = {
	started: (entry, look) =>
		block(
			entry,
			look,
			'started',
			h(
				'span',
				{class: 'dim small'},
				'The agent starts. ',
				marked(entry.text || entry.name || '', look.term),
			),
		),
	message: (entry, look) => block(entry, look, 'message', prose(entry, look, 'prose')),
	thinking: (entry, look) =>
		block(
			entry,
			look,
			'thinking',
			fold(
				entry.at,
				look,
				[
					icon('spark'),
					h('span', {class: 'dim'}, 'thinking: ', firstLine(entry.text || '')),
				],
				() => h('div', {class: 'prose dim'}, marked(plain(entry.text || ''), look.term)),
			),
		),
	call: callBlock,
	result: (entry, look) =>
		block(
			entry,
			look,
			'call',
			fold(
				entry.at,
				look,
				[
					h(
						'span',
						{class: `mark ${entry.ok ? 'good' : 'bad'}`},
						icon(entry.ok ? 'check' : 'cross'),
					),
					h('span', {class: 'dim'}, 'result '),
					h('code', {}, firstLine(entry.text || '')),
					h('span', {class: 'dim small'}, bytes(entry.size)),
				],
				() => resultText(entry, look),
			),
		),
	changed: (entry, look) =>
		block(
			entry,
			look,
			'changed',
			icon('file'),
			' changed ',
			h('code', {}, marked(entry.target || '', look.term)),
		),
	trouble: (entry, look) =>
		block(
			entry,
			look,
			'trouble',
			h(
				'span',
				{class: 'bad'},
				icon('alert'),
				h('strong', {}, ` ${entry.name || 'trouble'} `),
			),
			prose(entry, look, 'prose'),
		),
	final: (entry, look) =>
		block(
			entry,
			look,
			'final',
			h(
				'p',
				{class: entry.ok ? 'good' : 'bad'},
				icon(entry.ok ? 'check' : 'cross'),
				' The agent has ended its turn.',
			),
			entry.text && prose(entry, look, 'prose'),
		),
	line: (entry, look) => block(entry, look, 'line', prose(entry, look, 'text')),
};

// Joins each result with its call: only files that it has changed stand in between.
function joined(entries) {
	const items = [];

	for (const entry of entries) {
		const call = items.findLast((item) => item.kind !== 'changed');

		if (entry.kind === 'result' && call && call.kind === 'call' && !call.result)
			call.result = entry;
		else items.push({...entry});
	}
	return items;
}

/**
 * Returns the elements of entries. look: the term that is marked, the position of the hit, the
 * positions that are unfolded, and toggle(position, isOpen).
 */
export function entryNodes(entries, look) {
	return joined(entries).map((entry) => (BLOCKS[entry.kind] || BLOCKS.line)(entry, look));
}
