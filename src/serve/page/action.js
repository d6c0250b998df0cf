// Actions on a loop: the buttons that the server offers, and the dialog in which an action gets its
// text, its checkpoint, its question and the groups of files.
import {get, post} from './api.js';
import {announce, closeDialog, openDialog} from './dialog.js';
import {Diff} from './diff.js';
import {h} from './dom.js';
import {outcome} from './icon.js';
import {lines} from './parts.js';
import {age, figure, moment, plural} from './text.js';
import {now} from './store.js';

const TEXT_MOST = 16384; // bytes; see docs/serve.md
const SHOWN_MOST = 200; // paths of a group

// An action that wants a decision of the user, not only a confirmation.
const MAIN = new Set(['answer', 'accept', 'resume', 'apply']);

// What goes with the request.
const NOW = {
	tell: 'Stop the agent now, and begin its iteration again with the message',
	abort: 'Kill all processes at once',
};

/** Returns a button for each action that the server offers. */
export function actionButtons(loop, actions) {
	const main = actions.find(({name}) => MAIN.has(name));

	return h(
		'div',
		{class: 'actions', role: 'group', 'aria-label': 'Actions'},
		actions.map((action) =>
			h(
				'button',
				{
					type: 'button',
					key: action.name,
					title: action.about,
					class: action.loses ? 'danger' : action === main ? 'primary' : null,
					'data-action': action.name,
					onclick: () => runAction(loop, action),
				},
				action.title,
				action.input !== 'nothing' || action.name === 'apply' ? ' …' : '',
			),
		),
	);
}

/** Asks for what an action needs, and runs it. */
export function runAction(loop, action) {
	const state = {
		loop,
		action,
		asked: null,
		error: null,
		details: null,
		busy: false,
		again: false,
		text: '',
		now: false,
		checkpoint: null,
		checkpoints: null,
		leaves: new Set(),
		diffs: new Map(), // by path
	};

	state.dialog = openDialog(action.title, () => content(state));
	if (action.input === 'checkpoint') readCheckpoints(state);
	if (action.input === 'nothing') request(state);
}

async function readCheckpoints(state) {
	try {
		const told = await get(`/api/loops/${state.loop}/checkpoints`);

		state.checkpoints = told.checkpoints.slice().reverse();
		if (state.checkpoints.length) state.checkpoint = state.checkpoints[0].number;
	} catch (error) {
		state.error = error.message;
	}
	state.dialog.redraw();
}

function bodyOf(state, token) {
	const body = {token};

	if (state.action.input === 'text') body.text = state.text;
	if (state.action.input === 'checkpoint') body.checkpoint = state.checkpoint;
	if (NOW[state.action.name]) body.now = state.now;
	if (state.action.name === 'apply') body.leaves = [...state.leaves];
	return body;
}

// Sends the request, with the token of the question that the user said yes to.
async function request(state, token) {
	state.busy = true;
	state.error = null;
	state.dialog.redraw();
	try {
		take(
			state,
			await post(
				`/api/loops/${state.loop}/actions/${state.action.name}`,
				bodyOf(state, token),
			),
			token,
		);
	} catch (error) {
		state.error = error.message;
		state.details = error.details;
	}
	state.busy = false;
	state.dialog.redraw();
}

function take(state, answer, token) {
	if (answer.result !== 'asks') {
		state.dialog.close();
		announce(answer.text || 'Done.');
		return;
	}
	state.again = Boolean(token);
	state.diffs.clear();
	state.asked = answer.question;
	state.details = answer.details;
}

// ---- what an action needs ----

function textForm(state) {
	return [
		h(
			'label',
			{for: 'action-text'},
			state.action.name === 'answer' ? 'Your answer' : 'Your message',
		),
		h('textarea', {
			id: 'action-text',
			rows: 5,
			autofocus: true,
			required: true,
			maxlength: TEXT_MOST,
			oninput: (event) => {
				state.text = event.target.value;
			},
			onkeydown: (event) => {
				// as in other text boxes that send
				if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
					event.target.form.requestSubmit();
			},
		}),
	];
}

function checkpointForm(state) {
	if (!state.checkpoints)
		return !state.error && h('p', {class: 'dim'}, 'Reading the checkpoints …');
	if (!state.checkpoints.length) return h('p', {}, 'There are no checkpoints.');
	return [
		h('label', {for: 'action-checkpoint'}, 'Checkpoint'),
		h(
			'select',
			{
				id: 'action-checkpoint',
				autofocus: true,
				onchange: (event) => {
					state.checkpoint = Number(event.target.value);
				},
			},
			state.checkpoints.map((point) =>
				h(
					'option',
					{value: point.number},
					`${point.number}: ${point.kind} iteration ${point.iteration}, ${moment(point.at_ms)} ` +
						`(${age(now() - point.at_ms)}), ${plural(point.files, 'file')}`,
				),
			),
		),
	];
}

function nowBox(state) {
	return (
		NOW[state.action.name] &&
		h(
			'label',
			{class: 'check'},
			h('input', {
				type: 'checkbox',
				onchange: (event) => {
					state.now = event.target.checked;
					if (state.asked)
						// another question
						request(state);
				},
			}),
			NOW[state.action.name],
		)
	);
}

function inputForm(state) {
	const has = {
		text: state.action.input === 'text',
		checkpoint: state.checkpoints && state.checkpoints.length,
	};

	return h(
		'form',
		{
			key: 'input',
			onsubmit: (event) => {
				event.preventDefault();
				request(state);
			},
		},
		h('p', {class: 'dim'}, state.action.about),
		state.action.input === 'text' ? [textForm(state), nowBox(state)] : checkpointForm(state),
		problem(state),
		buttons(
			h(
				'button',
				{class: 'primary', disabled: state.busy || !has[state.action.input]},
				state.action.input === 'checkpoint' ? 'Continue' : 'Send',
			),
		),
	);
}

// ---- its question ----

// A path that unfolds to its difference.
function changeLine(state, change) {
	const {path, from} = change;
	const diff = state.diffs.get(path) || new Diff(state.loop, change);

	state.diffs.set(path, diff);
	return h(
		'li',
		{key: path},
		h(
			'details',
			{ontoggle: (event) => event.target.open && diff.read()},
			h('summary', {}, h('code', {}, from ? `${from} → ${path}` : path), ' ', lines(change)),
			change.why && h('p', {class: 'warn small'}, change.why),
			diff.element(),
		),
	);
}

function group(state, of) {
	const changes = state.details.changes.filter((change) => change.group === of.group);

	return h(
		'li',
		{key: of.group, class: `group ${of.needs_yes ? 'needs' : ''}`},
		h(
			'label',
			{class: 'check'},
			h('input', {
				type: 'checkbox',
				checked: true,
				name: of.group,
				onchange: (event) => {
					state.leaves[event.target.checked ? 'delete' : 'add'](of.group);
					state.dialog.redraw();
				},
			}),
			h('strong', {}, of.title || of.group),
			h('span', {class: 'dim'}, plural(of.paths, 'path')),
			lines(of),
		),
		of.needs_yes &&
			h(
				'p',
				{class: 'warn small'},
				'Look at these before you apply them: they run, or decide what counts as done.',
			),
		h(
			'details',
			{open: of.needs_yes},
			h('summary', {}, 'Paths'),
			h(
				'ul',
				{class: 'paths'},
				changes.slice(0, SHOWN_MOST).map((change) => changeLine(state, change)),
				changes.length > SHOWN_MOST &&
					h('li', {class: 'dim'}, `and ${figure(changes.length - SHOWN_MOST)} more`),
			),
		),
	);
}

function itemLine(item) {
	return h(
		'li',
		{},
		item.value && h('strong', {}, item.value, ' '),
		h('code', {}, item.name),
		item.why && h('span', {class: 'dim'}, ` ${item.why}`),
	);
}

function questionForm(state) {
	const {question, details} = {question: state.asked, details: state.details || {}};
	const grouped = details.kind === 'files' && details.groups;
	const chosen = !grouped || state.leaves.size < details.groups.length;

	return h(
		'form',
		{
			key: 'question',
			onsubmit: (event) => {
				event.preventDefault();
				request(state, question.token);
			},
		},
		h('p', {class: 'question'}, question.text),
		state.again &&
			h(
				'p',
				{class: 'warn', role: 'alert'},
				'Something has changed in the meantime. Please look again.',
			),
		grouped
			? h(
					'ul',
					{class: 'groups'},
					details.groups.map((each) => group(state, each)),
				)
			: question.items.length > 0 &&
					h(
						'ul',
						{class: 'paths items'},
						question.items.slice(0, SHOWN_MOST).map(itemLine),
						question.items.length > SHOWN_MOST &&
							h(
								'li',
								{class: 'dim'},
								`and ${figure(question.items.length - SHOWN_MOST)} more`,
							),
					),
		details.kind === 'commits' &&
			h(
				'p',
				{class: 'dim'},
				`${plural(details.commits, 'commit')} of branch `,
				h('code', {}, details.branch || ''),
			),
		state.action.name === 'abort' && nowBox(state),
		problem(state),
		buttons(
			h(
				'button',
				{
					class: state.action.loses ? 'danger solid' : 'primary',
					disabled: state.busy || !chosen,
					autofocus: !state.action.loses,
				},
				state.action.name === 'apply' && state.leaves.size
					? 'Apply the chosen groups'
					: state.action.title,
			),
		),
	);
}

// ---- both ----

function problem(state) {
	const conflicts = state.details && state.details.conflicts;

	return (
		state.error &&
		h(
			'div',
			{class: 'problem', role: 'alert'},
			outcome(false, state.error),
			conflicts &&
				h(
					'ul',
					{},
					conflicts.map((conflict) => h('li', {}, conflict)),
				),
		)
	);
}

function buttons(go) {
	return h(
		'div',
		{class: 'buttons'},
		h('button', {type: 'button', onclick: closeDialog}, 'Cancel'),
		go,
	);
}

function content(state) {
	if (state.asked) return questionForm(state);
	if (state.action.input !== 'nothing') return inputForm(state);
	return h(
		'div',
		{key: 'wait'},
		problem(state) || h('p', {class: 'dim'}, 'One moment …'),
		h(
			'div',
			{class: 'buttons'},
			h('button', {type: 'button', onclick: closeDialog}, state.error ? 'Close' : 'Cancel'),
		),
	);
}
