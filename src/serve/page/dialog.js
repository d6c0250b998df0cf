// The dialog, of which there is one, and the line that says what happened.
import {h, show} from './dom.js';

const NOTICE_MS = 12000;

const element = h('dialog', {'aria-labelledby': 'dialog-title'});
const notice = h('div', {id: 'notice', role: 'status', 'aria-live': 'polite'});
let current = null; // what the open dialog shows
let fading = 0;

document.body.append(element, notice);
// The event comes later than the act: the dialog may be open again.
element.addEventListener('close', () => {
	if (element.open) return;
	current = null;
	show(element);
});

export function dialogIsOpen() {
	return element.open;
}

// A part that goes away takes the focus with it.
function keepFocus() {
	if (element.contains(document.activeElement) && document.activeElement !== element) return;
	const next = element.querySelector('[autofocus]') || element.querySelector('button');

	if (next) next.focus();
}

/** A dialog while it is open; after that, redraw() and close() do nothing. */
class Dialog {
	constructor(title, content) {
		this.draw = () => show(element, h('h2', {id: 'dialog-title'}, title), content());
	}

	redraw() {
		if (current !== this) return;
		this.draw();
		keepFocus();
	}

	close() {
		if (current === this) element.close();
	}
}

/**
 * Opens the dialog, unless one is open. content() returns what stands below the title; redraw()
 * calls it again. The focus goes to the element with `autofocus`, and back at the end.
 */
export function openDialog(title, content) {
	const dialog = new Dialog(title, content);

	if (element.open) return dialog;
	current = dialog;
	dialog.draw();
	element.showModal();
	keepFocus();
	return dialog;
}

/** Closes the dialog that is open. */
export function closeDialog() {
	element.close();
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
