// Keys of the page and of the view that is shown. None of them works while a text is typed or a
// dialog is open, and none has a modifier.
import {h} from './dom.js';
import {openDialog, closeDialog, dialogIsOpen} from './dialog.js';

let ofPage = [];
let ofView = [];

/** Sets the keys that always work: [{key, about, run}]. */
export function setPageKeys(keys) {
	ofPage = keys;
}

/** Sets the keys of the view that is shown. */
export function setViewKeys(keys) {
	ofView = keys;
}

function isTyping(target) {
	return target.matches('textarea, select, input:not([type=checkbox]):not([type=radio])');
}

function onKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialogIsOpen())
		return;
	if (isTyping(event.target)) {
		if (event.key === 'Escape') event.target.blur();
		return;
	}
	const found = [...ofView, ...ofPage].find(({key}) => key === event.key);
	if (!found) return;
	event.preventDefault();
	found.run();
}

function section(title, keys) {
	return (
		keys.length > 0 && [
			h('h3', {}, title),
			h(
				'dl',
				{class: 'keys'},
				keys
					.filter(({about}) => about)
					.map(({key, about}) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, about)]),
			),
		]
	);
}

/** Shows all keys that work now. */
export function showKeys() {
	openDialog('Keys', () => [
		section('Here', ofView),
		section('Everywhere', ofPage),
		h(
			'div',
			{class: 'buttons'},
			h(
				'button',
				{type: 'button', class: 'primary', onclick: closeDialog, autofocus: true},
				'Close',
			),
		),
	]);
}

addEventListener('keydown', onKey);
