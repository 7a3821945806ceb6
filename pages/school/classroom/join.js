// A phone in class: code, lobby, question, guess, sent, kept, how sure, and after the reveal the guess over the truth.
// In the JavaScript of 2009, so that old phones run it. All that comes from others is set as text.
(function () {
  'use strict'
  // modules
  var WORDS = JSON.parse(document.getElementById('words').textContent)
  var LANGUAGES = ['en', 'zh']
  var CHIPS = 3, LONGEST_WORD = 24
  var FEW = 6, SHORT = 12   // more options than that, of no more letters, stand beside each other
  var SILENCE = 45000   // ms without a word from the server, who says something every 15 s: the line is dead
  var POLL = 3000       // ms between two questions, where the server cannot speak by itself
  var DEAF = 500        // ms after a tap in which another one is the same tap, and what now stands under it does nothing
  var TRIES = 3, PAUSE = 1000, LONGEST_PAUSE = 10000
  var main = document.getElementById('main'), line = document.getElementById('line')
  var news = document.getElementById('news'), switcher = document.getElementById('switch')

  // -- what this phone keeps: the class, the number that it was given there, its votes ---------------------------------

  var kept = { device: '', code: '', language: '', votes: {} }
  try {
    var found = JSON.parse(localStorage.getItem('glass.class') || '{}')
    for (var name in kept) if (typeof found[name] === typeof kept[name]) kept[name] = found[name]
  } catch (error) { kept.device = '' }   // nothing can be kept here: it lasts as long as the page
  function keep() {
    try { localStorage.setItem('glass.class', JSON.stringify(kept)) } catch (error) { return }
  }

  var says = null       // what the class is asked, as the server last said
  var refused = ''      // why there is no class: the name of a text
  var draft = {}        // the guess that is being made
  var editing = false   // a vote that is kept is being changed
  var notice = ''       // of a vote that came too late
  var homework = ''     // the page of a task that the class ended with
  var missing = ''      // what a vote that cannot be sent lacks
  var ends = 0          // by this phone's clock, when the vote closes by itself
  var lost = false, entering = false, deaf = 0, shown = '', sending = false, tries = 0, again = 0

  function language() { return kept.language || document.documentElement.lang }
  function word(name, values) {
    return WORDS[language()][name].replace(/\{(\w+)\}/g, function (whole, key) {
      return values && key in values ? values[key] : whole
    })
  }
  function local(words) { return words ? words[language()] || words.en || '' : '' }

  // -- what is drawn ---------------------------------------------------------------------------------------------------

  function el(tag, about, children) {
    var made = document.createElement(tag), key
    for (key in about || {}) {
      if (key.slice(0, 2) === 'on') made[key] = about[key]
      else if (about[key] !== null && about[key] !== false) made.setAttribute(key, about[key] === true ? '' : about[key])
    }
    if (children === undefined || children === null) return made
    if (!(children instanceof Array)) children = [children]
    children.forEach(function (child) {
      if (child !== null && child !== undefined) made.appendChild(child.nodeType ? child : document.createTextNode(child))
    })
    return made
  }
  function p(text, look) { return text ? el('p', { 'class': look || null }, text) : null }

  function now() { return says ? says.number + '.' + says.round : '' }
  function mine(any) {   // the vote on this question: of this round, or (any) of the last one that there is
    var round = says.round, vote = null
    for (; round > 0 && !vote; round = any ? round - 1 : 0) vote = kept.votes[says.number + '.' + round]
    return vote || null
  }

  function last(vote) { return vote.then || { guess: vote.guess, sure: vote.sure } }   // what he said last

  function view() {
    if (!says) return refused === 'gone' ? 'gone' : 'code'
    if (says.paused) return 'paused'
    if (says.phase === 'open') return mine() && !editing ? 'sent' : 'open'
    return says.phase
  }

  // Draw anew what has changed; what is being written stays as it is while nothing has.
  function draw(focus) {
    var vote = says && says.question ? mine() : null
    var which = [view(), now(), language(), vote && vote.state, vote && JSON.stringify(last(vote)), refused, kept.code, notice, missing, entering, says && says.lead].join('|')
    tell()
    if (which === shown) return
    var before = shown.split('|').slice(0, 2).join()
    shown = which
    var there = DRAW[view()](), inside = main.contains(document.activeElement)
    while (main.firstChild) main.removeChild(main.firstChild)
    there.forEach(function (part) { if (part) main.appendChild(part) })
    document.documentElement.lang = language()
    document.title = word('title') + ' · ' + word('app')
    document.getElementById('where').textContent = says ? word('where', { code: kept.code }) : word('app')
    var other = LANGUAGES[1 - LANGUAGES.indexOf(language())]
    switcher.textContent = WORDS[other].language
    switcher.lang = other
    var title = main.querySelector('h1')
    if (title && before !== [view(), now()].join()) news.textContent = title.textContent   // for those who listen
    if ((focus || inside) && title) { title.tabIndex = -1; title.focus() }   // what had it is gone
  }
  function tell() {
    var waits = false, key
    for (key in kept.votes) waits = waits || kept.votes[key].state === 'waiting'
    line.textContent = !lost ? '' : word(waits ? 'offline_vote' : 'offline')
  }

  function head() {
    var second = says.round > 1 && (says.phase === 'open' || mine())
    var title = word(second ? 'second' : 'question', { n: says.number }), first = kept.votes[says.number + '.1']
    return [p(notice, 'wrong'), p(title, 'small'), el('h1', {}, phrased(local(says.question.ask))),
            p(local(says.question.about), 'small'), p(says.question.reads, 'reads'), study(),
            second && first && says.phase === 'open' ? yours(first, 'first') : null, el('p', { 'class': 'left' }, left())]
  }
  function study() { return p(says.study ? word('study') : '', 'small') }
  function left() { return ends ? word('left', { left: Math.max(0, Math.ceil((ends - Date.now()) / 1000)) }) : '' }
  function count() {
    var there = main.querySelector('.left')
    if (there && there.textContent !== left()) there.textContent = left()
  }

  var DRAW = {
    code: function () { return [el('h1', {}, word('title')), entrance(), p(word('privacy'), 'small')] },
    gone: over, ended: over,
    paused: function () { return [el('h1', {}, word('paused'))] },
    lobby: function () { return [el('h1', {}, word('lobby')), p(word('lobby_then')), shows(), study(), p(word('privacy'), 'small')] },
    question: function () { return head().concat([p(word('stem'), 'small')]) },
    open: function () {
      if (draft.of !== now()) draft = { of: now() }
      var question = says.question, made = GESTURES[question.gesture](question)
      if (GESTURES[question.gesture] === tap || question.gesture === 'chips') return head().concat([made])   // sent by itself
      return head().concat([el('form', { onsubmit: function () { send(); return false }, novalidate: true }, [
        made, missing ? el('p', { 'class': 'wrong', role: 'alert' }, missing) : null,
        el('button', { type: 'submit', 'class': 'main' }, word('send'))])])
    },
    sent: function () {
      var vote = mine()
      return head().concat([
        p(word(vote.state === 'kept' ? 'kept' : 'waiting'), vote.state === 'kept' ? 'kept' : ''),
        yours(last(vote)), sure(last(vote)), el('button', { type: 'button', disabled: !!deaf, onclick: function () {
          editing = true
          draft = { of: now(), guess: last(vote).guess }
          deafen()
          draw(true)
        } }, word('change'))])
    },
    closed: function () { return head().concat([p(word('closed')), yours(mine(true))]) },
    discuss: function () { return head().concat([el('p', { 'class': 'kept' }, word('discuss')), yours(mine(true))]) },
    revealed: revealed, explained: revealed
  }
  function shows() {   // the page that the teacher leads to, which from then on goes along with hers
    if (!says.lead) return null
    var to = './' + says.lead + (says.lead.indexOf('?') < 0 ? '?' : '&') + 'class' + '=' + kept.code + '&lang=' + language()
    return el('p', {}, el('a', { 'class': 'link', href: to }, word('follow')))
  }
  function over() {
    var to = homework && el('p', {}, el('a', { 'class': 'link', href: './' + homework + '&lang=' + language() }, word('homework')))
    return [el('h1', {}, word(says ? 'ended' : 'gone')), to, p(word('gone_then')), entrance()]
  }
  function entrance() {   // the box for a code, also of the next class
    var input = el('input', { type: 'text', id: 'code', 'class': 'code', maxlength: 40, autocomplete: 'off',
      autocapitalize: 'characters', autocorrect: 'off', spellcheck: 'false', 'aria-describedby': 'help' })
    if (!says) input.value = kept.code
    var short = refused === 'code_help'
    return el('form', { onsubmit: function () { enter(input.value); return false }, novalidate: true }, [
      el('label', { 'for': 'code', 'class': 'field' }, word('code')), input,
      el('p', short ? { id: 'help', 'class': 'wrong', role: 'alert' } : { id: 'help', 'class': 'small' }, word('code_help')),
      refused && !short && refused !== 'gone' ? el('p', { 'class': 'wrong', role: 'alert' }, word(refused, { code: kept.code })) : null,
      el('button', { type: 'submit', 'class': 'main' }, word(entering ? 'entering' : 'enter'))])
  }
  function yours(vote, name) { return p(vote ? word(name || 'yours', { guess: named(vote.guess) }) : word('no_guess')) }

  // A guess in words, in quotation marks unless it begins with a number.
  function named(guess) {
    var question = says.question, at = (question.options || []).indexOf(guess)
    if (question.gesture === 'chips') {
      return question.options.map(function (option, i) { return guess[i] ? called(i) + ' ' + dots(guess[i]) : '' })
        .filter(Boolean).join(word('comma'))
    }
    var said = at >= 0 ? called(at) : typeof guess === 'number' ? figure(guess) : guess
    return /^[×−\d]/.test(said) ? said : '“' + said + '”'
  }
  function between(span) { return { low: end(span[0]), high: end(span[1]) } }
  function dots(chips) { return new Array(chips + 1).join('●') }
  function called(at) { return local(says.question.names)[at] || says.question.options[at] }
  function tidy(value) { return Math.round(value * 100) / 100 }
  function figure(value) {   // as on the projector
    var size = Math.abs(value)
    if (value >= 0 && value < 1) return decimal(value)
    return spaced(fixed(value, says.question.gesture === 'number' || size >= 100 ? 0 : size >= 10 ? 1 : 2))
  }
  function end(value) { return spaced(String(tidy(value))) }   // of a scale: 0, 1, −2.5, 12,000
  function spaced(written) {
    return written.replace(/\B(?=(\d{3})+(?!\d))/g, ',').replace(/^-(0\.00$)?/, function (_, none) { return none || '−' })
  }

  // -- gestures --------------------------------------------------------------------------------------------------------

  function options(legend, values, texts, chosen, choose, look) {
    return el('fieldset', { disabled: !!deaf }, [el('legend', {}, legend), el('div', { 'class': look || null }, values.map(function (value, i) {
      var about = { type: 'button', 'class': 'choice', 'aria-pressed': String(chosen === value), onclick: function () { choose(value) } }
      return el('button', about, texts[i])
    }))])
  }
  function sure(said) {   // asked of an answer that is on its way, and counts without it
    var texts = [word('sure_1'), word('sure_2'), word('sure_3')]
    return options(word('sure'), [1, 2, 3], texts, said.sure, function (value) { cast(said.guess, value) }, 'sure')
  }
  function tap(question) {
    var texts = question.options.map(function (option, i) { return called(i) })
    var short = texts.length > FEW && texts.every(function (text) { return text.length <= SHORT })
    return options(word('your_choice'), question.options, texts, draft.guess, function (value) { cast(value, 0) }, short ? 'names' : '')
  }
  function deafen() {
    clearTimeout(deaf)
    deaf = setTimeout(function () {
      var all = main.querySelectorAll('[disabled]'), i
      for (i = 0; i < all.length; i++) all[i].removeAttribute('disabled')
      deaf = 0
    }, DEAF)
  }
  function field(label, about, read) {
    var input = el('input', about)
    input.id = 'guess'
    if (draft.guess !== undefined) input.value = draft.guess
    input.oninput = input.onchange = input.onclick = input.ontouchend = function () { draft.guess = read(input) }   // or a tap where it stands
    return el('div', {}, [el('label', { 'for': 'guess', 'class': 'field' }, label), input])
  }
  var GESTURES = {
    word: function () {
      var about = { type: 'text', maxlength: LONGEST_WORD, autocomplete: 'off', autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' }
      return field(word('your_word'), about, function (input) { return input.value.replace(/^\s+|\s+$/g, '') })
    },
    tap: tap, same: tap,
    slide: function (question) {
      var low = question.span[0], high = question.span[1], step = high <= 1 ? .01 : .1
      // It begins in the middle, which is no guess before it was moved.
      var said = el('output', { 'for': 'guess' }, draft.guess === undefined ? '–' : figure(draft.guess))
      var about = { type: 'range', min: low, max: high, step: step, value: tidy((low + high) / 2) }
      var made = field(word('your_value'), about, function (input) {
        var value = Math.min(high, Math.max(low, tidy(parseFloat(input.value))))
        said.textContent = figure(value)
        return value
      })
      made.insertBefore(said, made.lastChild)
      made.appendChild(el('div', { 'class': 'ends', 'aria-hidden': true }, [el('span', {}, end(low)), el('span', {}, end(high))]))
      return made
    },
    number: function (question) {
      var about = { type: 'number', min: question.span[0], max: question.span[1], step: 1 }
      if (question.span[0] >= 0) about.inputmode = 'numeric'   // a phone's digits alone have no minus
      return field(word('your_number', between(question.span)), about, function (input) {
        return /^-?\d+$/.test(input.value) ? parseInt(input.value, 10) : undefined
      })
    },
    chips: function (question) {   // the last chip sends the guess
      var given = draft.guess = (draft.guess || question.options.map(function () { return 0 })).slice()
      var left = el('span', { role: 'status' }), rows = []
      function total() { return given.reduce(function (sum, one) { return sum + one }, 0) }
      if (total() === CHIPS) given = draft.guess = given.map(function () { return 0 })   // to be changed, he begins anew
      function give(i, chips) {
        return function () {
          if (given[i] + chips >= 0) given[i] += chips
          if (total() === CHIPS) cast(given, 0)
          else count()
        }
      }
      function count() {
        left.textContent = word('chips_left', { left: CHIPS - total() })
        rows.forEach(function (row, i) {
          row.firstChild.hidden = !given[i]
          row.lastChild.lastChild.textContent = dots(given[i])
        })
      }
      rows = question.options.map(function (option, i) {   // a touch of a name gives it a chip
        var name = called(i)
        return el('div', { 'class': 'chip' }, [
          el('button', { type: 'button', 'aria-label': word('fewer', { name: name }), onclick: give(i, -1) }, '−'),
          el('button', { type: 'button', 'aria-label': word('more', { name: name }), onclick: give(i, 1) }, [
            el('span', { 'class': 'name' }, name), el('span', {}, '')])])
      })
      var made = el('fieldset', { disabled: !!deaf }, [el('legend', {}, [word('chips') + ' · ', left]), el('div', { 'class': 'chips' }, rows)])
      count()
      return made
    }
  }
  // What a guess lacks, in words; '' where it can be sent.
  function lacks() {
    var guess = draft.guess, gesture = says.question.gesture, span = says.question.span
    if (gesture === 'word' && /\s/.test(guess || '')) return word('one_word')
    if (gesture === 'number' && !(guess >= span[0] && guess <= span[1])) return word('lacks_number', between(span))
    if (guess === undefined || guess === '') return word('lacks_guess')
    return ''
  }

  // -- the guess over the truth ----------------------------------------------------------------------------------------

  function revealed() {
    var truth = says.truth, question = says.question, vote = mine(true), parts = []
    var whose = truth.own ? 'teacher' : 'network'
    if (question.gesture === 'chips') {
      var rows = question.options.map(function (option, i) {
        return el('tr', {}, [el('th', { scope: 'row' }, called(i)), el('td', { 'class': 'bars', 'aria-hidden': true }, [
          vote ? bar('own', 100 * vote.guess[i] / CHIPS) : null, bar('true', truth.answer[i])]),
          el('td', { 'class': 'n own' }, vote ? dots(vote.guess[i]) : '–'), el('td', { 'class': 'n true' }, figure(truth.answer[i] / 100))])
      })
      var titles = [word('token'), '', word('you'), word(whose)]
      parts = [el('table', {}, [el('thead', {}, el('tr', {}, titles.map(function (title, i) {
        return el('th', { scope: 'col', 'class': ['', '', 'own', 'true'][i] || null }, title)
      }))), el('tbody', {}, rows)])]
    } else if (question.options) {
      parts = [el('ul', {}, question.options.map(function (option, i) {
        var is = option === truth.answer, chosen = vote && vote.guess === option
        var marks = [chosen ? el('span', { 'class': 'own' }, word('you')) : null, chosen && is ? word('comma') : null,
                     is ? el('span', { 'class': 'true' }, word(whose)) : null]
        return el('li', { 'class': is ? 'answer' : null }, [el('span', {}, called(i)), el('span', {}, marks)])
      }))]
    } else {
      if (question.gesture === 'slide') parts.push(track(question.span, vote && vote.guess, truth.answer))
      parts.push(said(whose, 'true', truth.answer), vote && said('you', 'own', vote.guess))
    }
    if (!vote) parts.push(p(word('no_guess')))
    if (truth.why) parts.push(p(local(truth.why)))
    if (truth.see) {
      var to = truth.see + (truth.see.indexOf('?') < 0 ? '?' : '&') + 'lang=' + language()
      parts.push(el('p', {}, el('a', { 'class': 'link', href: './' + to, target: '_blank', rel: 'noopener' }, word('try'))))
    }
    return [shows()].concat(head(), parts)
  }
  function said(who, whose, guess) {
    return el('p', {}, [word(who) + word('colon'), el('span', { 'class': 'number ' + whose }, named(guess))])
  }
  function bar(whose, share) {
    var made = el('div', { 'class': 'bar ' + whose })
    made.style.width = share + '%'
    return made
  }
  function track(span, guess, answer) {
    function mark(whose, value) {
      var made = el('span', { 'class': 'mark ' + whose })
      made.style.left = 100 * (value - span[0]) / (span[1] - span[0]) + '%'
      return made
    }
    return el('div', { 'aria-hidden': true }, [
      el('div', { 'class': 'track' }, [el('i'), typeof guess === 'number' ? mark('own', guess) : null, mark('true', answer)]),
      el('div', { 'class': 'ends' }, [el('span', {}, end(span[0])), el('span', {}, end(span[1]))])])
  }

  // -- the server ------------------------------------------------------------------------------------------------------

  function address(what) {
    return 'live/' + kept.code + what + '?d=' + kept.device
  }
  function ask(method, to, body, done) {
    var request = new XMLHttpRequest()
    request.open(method, to)
    request.timeout = 15000
    request.onload = function () {
      var answer = null
      try { answer = JSON.parse(request.responseText) } catch (error) { answer = null }
      done(answer ? request.status : 0, answer)
    }
    request.onerror = request.ontimeout = function () { done(0, null) }
    if (body) request.setRequestHeader('Content-Type', 'application/json')
    request.send(body)
  }

  var stream = null, failed = 0, heard = 0, polls = 0, timer = 0

  function enter(code) {
    code = code.toUpperCase().replace(/[^A-Z]/g, '')
    if (code !== kept.code) { hang_up(); says = null; kept.code = code; kept.device = ''; kept.votes = {}; keep() }
    refused = code.length === 6 ? '' : 'code_help'
    if (!refused) { entering = true; look() }
    draw()
  }
  function leave(why) {   // there is no class: the code can be written again
    hang_up()
    entering = false
    refused = says ? 'gone' : why
    if (says) {   // nor is it asked for after a reload
      kept.code = ''
      keep()
      if (history.replaceState) history.replaceState(null, '', location.pathname)
    }
    says = null
    draw()
  }
  function hang_up() {
    if (stream) stream.close()
    stream = null
    clearTimeout(timer)
  }
  function look() {   // ask once; and from then on listen, or ask again
    clearTimeout(timer)
    ask('GET', address('/now'), null, function (status, answer) {
      if (status === 200) { took(answer); listen() }
      else if (status === 404) leave('unknown')
      else {
        if (status === 429 && !says) { refused = 'slow'; draw() } else line_is(true)
        timer = setTimeout(look, pause(failed++))
      }
    })
  }
  function listen() {
    if (!window.EventSource || failed >= TRIES) {
      if (++polls % 10 === 0) failed = 0   // perhaps it can be heard again
      timer = setTimeout(look, POLL * (.8 + .4 * Math.random()))
      return
    }
    if (stream) return
    var own = stream = new EventSource(address(''))
    heard = Date.now()
    own.onmessage = function (event) { failed = 0; took(JSON.parse(event.data)) }
    own.addEventListener('ping', function () { line_is(false) })
    own.addEventListener('gone', function () { leave('unknown') })
    own.onerror = function () {
      line_is(true)
      failed++
      if (own.readyState === 2 || failed >= TRIES) { hang_up(); timer = setTimeout(look, pause(failed)) }
    }
  }
  function pause(times) { return Math.min(LONGEST_PAUSE, PAUSE * Math.pow(2, Math.min(times, 6))) * (.6 + .8 * Math.random()) }
  function line_is(broken) {
    if (!broken) heard = Date.now()
    lost = broken
    tell()
  }
  function took(answer) {
    line_is(false)
    entering = false
    refused = ''
    if (says && answer.version < says.version) return   // another worker, which has not heard of it yet
    if (!says || answer.number !== says.number || answer.round !== says.round || answer.phase !== says.phase) {
      editing = false
      missing = ''
      if (says && answer.phase === 'open') notice = ''
    }
    says = answer
    homework = answer.phase === 'ended' && /[?&]goal=/.test(answer.lead) ? answer.lead : ''
    ends = answer.left === undefined ? 0 : Date.now() + 1000 * answer.left
    if (answer.device) kept.device = answer.device
    keep()
    draw()
    count()
    post()
  }

  function send() {
    missing = lacks()
    if (missing) draw()
    else cast(draft.guess, 0)
  }
  // Keep a vote, and send it. sure: from 1 to 3, 0: not said. One that changes it waits until the first is acknowledged:
  // else nobody would know which of the two counts, where the class is closed between them.
  function cast(guess, sure) {
    var before = mine()
    if (before && before.state === 'waiting') before.then = { guess: guess, sure: sure }
    else kept.votes[now()] = waiting({ n: says.number, r: says.round }, { guess: guess, sure: sure }, before)
    editing = false
    notice = missing = ''
    keep()
    tries = 0
    deafen()
    post()
    draw(true)
  }
  function waiting(of, said, before) {
    return { n: of.n, r: of.r, guess: said.guess, sure: said.sure, state: 'waiting',
      before: before ? { guess: before.guess, sure: before.sure } : null }
  }
  // Send what waits, one after the other, until the server has said what became of it.
  function post() {
    var key, vote = null
    for (key in kept.votes) if (kept.votes[key].state === 'waiting') { vote = kept.votes[key]; break }
    if (sending || !vote) return
    clearTimeout(again)
    sending = true
    var code = kept.code
    var body = JSON.stringify({ n: vote.n, r: vote.r, guess: vote.guess, sure: vote.sure })
    ask('POST', address('/vote'), body, function (status, answer) {
      var verdict = status && answer ? answer.verdict : 'busy'
      sending = false
      if (code !== kept.code) return
      if (verdict === 'stranger') again = setTimeout(look, pause(tries++))   // it is given a number, and then votes
      else if (verdict === 'busy' || verdict === 'slow') {
        if (!status) line_is(true)
        again = setTimeout(post, pause(tries++))
      } else {
        line_is(false)
        tries = 0
        if (verdict === 'unknown') { leave('unknown'); return }
        if (kept.votes[key] === vote) became(key, vote, verdict)
        post()
      }
      draw()
    })
  }
  function became(key, vote, verdict) {
    if (verdict === 'kept') {
      vote.state = 'kept'
      vote.before = null
      if (vote.then) kept.votes[key] = waiting(vote, vote.then, vote)
    } else {
      notice = word(verdict === 'closed' ? vote.before ? 'late_change' : 'late' : verdict, { n: vote.n })
      if (vote.before) kept.votes[key] = { n: vote.n, r: vote.r, guess: vote.before.guess, sure: vote.before.sure, state: 'kept' }
      else delete kept.votes[key]
    }
    keep()
  }

  // -- it begins -------------------------------------------------------------------------------------------------------

  switcher.onclick = function () {
    kept.language = LANGUAGES[1 - LANGUAGES.indexOf(language())]
    notice = missing = ''
    keep()
    draw()
  }
  function wake() {   // from a pocket, or behind a tunnel: whatever was said meanwhile was not heard
    if (!says || document.hidden) return
    if (!stream || Date.now() - heard > PAUSE) { hang_up(); look() }
    post()
  }
  window.addEventListener('online', wake)
  window.addEventListener('pageshow', wake)
  document.addEventListener('visibilitychange', wake)
  setInterval(function () {
    if (stream && Math.abs(Date.now() - heard) > SILENCE) { line_is(true); hang_up(); look() }
  }, 5000)
  setInterval(count, 500)

  var given = /[?&]c=([A-Za-z]{6})(&|$)/.exec(location.search)
  draw()
  if (given || kept.code) enter(given ? given[1] : kept.code)
})()
