// The dialog, of which there is one, and the line that says what happened.
import {h, show} from './dom.js';

const dialog = h('dialog', {'aria-labelledby': 'dialog-title'});
const notice = h('div', {id: 'notice', role: 'status', 'aria-live': 'polite'});
const NOTICE_MS = 12000;

let draw = null;
let whenClosed = null;
let fading = 0;

document.body.append(dialog, notice);
dialog.addEventListener('close', () => {
	const closed = whenClosed;

	draw = whenClosed = null;
	show(dialog);
	if (closed) closed();
});

export function dialogIsOpen() {
	return dialog.open;
}

/** Draws the content of the open dialog again. */
export function redrawDialog() {
	if (draw) show(dialog, draw());
}

/**
 * Opens the dialog. content() returns what stands below the title; it is called again by
 * redrawDialog(). The focus goes to the element with `autofocus`, and back when the dialog closes.
 */
export function openDialog(title, content, onClose) {
	if (dialog.open) return;
	draw = () => [h('h2', {id: 'dialog-title'}, title), content()];
	whenClosed = onClose;
	redrawDialog();
	dialog.showModal();
	const first = dialog.querySelector('[autofocus]');
	if (first) first.focus();
}

export function closeDialog() {
	dialog.close();
}

/** Says what happened, for a while. */
export function announce(text) {
	clearTimeout(fading);
	show(
		notice,
		h('p', {}, text),
		h('button', {type: 'button', class: 'plain', onclick: silence}, 'Dismiss'),
	);
	fading = setTimeout(silence, NOTICE_MS);
}

function silence() {
	show(notice);
}
