export default function({ data, parentElement }) {
  parentElement.querySelector('.arithmetic').innerHTML = new TextDecoder().decode(data)
}
